#include <gtest/gtest.h>

#include "record/collector/allocation_site.hpp"
#include "record/collector/function_names.hpp"

namespace linebounce::record {
namespace {

TEST(FunctionNames, AreWithoutParametersResultsAndClones) {
  EXPECT_EQ(short_function_name("insert"), "insert");
  EXPECT_EQ(short_function_name("insert.constprop.0"), "insert");
  EXPECT_EQ(short_function_name("f"), "f");
  EXPECT_EQ(short_function_name("_ZN5Table6insertEi"), "Table::insert");
  EXPECT_EQ(short_function_name("_ZNK5Table4findEi"), "Table::find");
  EXPECT_EQ(short_function_name("_Z4workIiEvT_"), "work<int>");
  EXPECT_EQ(short_function_name("_ZZ4mainENKUlvE_clEv"), "main::{lambda()#1}::operator()");
  EXPECT_EQ(short_function_name("_ZNK5TablecvmEv"), "Table::operator unsigned long");
  EXPECT_EQ(short_function_name("_Z5twiceIZZ4mainENKUlvE_clEvEUlvE_EvT_"),
            "twice<main::{lambda()#1}::operator()() const::{lambda()#1}>");
  EXPECT_EQ(short_function_name("_ZlsR5TableRKi"), "operator<<");
}

TEST(FunctionNames, OfRustAreWithoutTheirNumberAndAsTheSourceHasThem) {
  EXPECT_EQ(short_function_name("_ZN3app4work17h0123456789abcdefE"), "app::work");
  EXPECT_EQ(short_function_name("_ZN3app4work17h0123456789abcdefE.llvm.1234"), "app::work");
  EXPECT_EQ(short_function_name("_ZN3app4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE"), "app::main::{{closure}}");
  EXPECT_EQ(short_function_name("_ZN52_$LT$app..Table$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE"),
            "<app::Table as core::ops::drop::Drop>::drop");
  EXPECT_EQ(demangled_name("_ZN3app7COUNTER17h0123456789abcdefE"), "app::COUNTER");
  EXPECT_EQ(short_function_name("_ZN3app1$17h0123456789abcdefE"), "app::$");
  EXPECT_EQ(short_function_name("_ZN3app99work17h0123456789abcdefE"), "_ZN3app99work17h0123456789abcdefE");
}

TEST(FunctionNames, OfRustInItsNewerSpellingAreTheSame) {
  EXPECT_EQ(short_function_name("_RNvCs11G97PgjCDl_3app4work"), "app::work");
  EXPECT_EQ(short_function_name("_RNCNvCs11G97PgjCDl_3app4main0B3_"), "app::main::{{closure}}");
  EXPECT_EQ(short_function_name("_RNvNCNCNvCs1_3app4main003MIN"), "app::main::{{closure}}::{{closure}}::MIN");
  EXPECT_EQ(short_function_name("_RNvMs0_NtNtNtCsjrHSEGnQ3l9_3std3sys6thread4unixNtB5_6Thread3new"),
            "std::sys::thread::unix::Thread::new");
  EXPECT_EQ(short_function_name("_RNvXNtCsjrHSEGnQ3l9_3app5tableNtB2_5TableNtNtNtCsgEmfK2I1SDS_4core3ops4drop4Drop4drop"),
            "<app::table::Table as core::ops::drop::Drop>::drop");
  EXPECT_EQ(short_function_name("_RINvNtCs1_3app4pool4takeAhj3_Kj2_FEuRShE"), "app::pool::take");
  for (const char* broken : {"_R", "_RNv", "_RNvC99_3app4work", "_RB_", "_RNvB_4work", "_RINvC3app4workA"})
    EXPECT_EQ(short_function_name(broken), broken);
}

TEST(FunctionNames, OfGoKeepTheirDots) {
  EXPECT_EQ(short_function_name("main.work"), "main.work");
  EXPECT_EQ(short_function_name("main.main.func1"), "main.main.func1");
  EXPECT_EQ(short_function_name("sync.(*Mutex).Lock"), "sync.(*Mutex).Lock");
  EXPECT_EQ(short_function_name("runtime.coldstart"), "runtime.coldstart");
}

TEST(FunctionNames, OfPartsAndCopiesAreTheWholeFunctions) {
  EXPECT_EQ(short_function_name("insert.part.0.isra.0"), "insert");
  EXPECT_EQ(short_function_name("insert.cold"), "insert");
  EXPECT_EQ(short_function_name("insert._omp_fn.0"), "insert");
  EXPECT_EQ(short_function_name("inner.1234"), "inner");
}

TEST(FunctionNames, OfAThreadThatRunsALambdaAreTheLambdas) {
  EXPECT_EQ(short_function_name("_ZNSt6thread11_State_implINS_8_InvokerISt5tupleIJZ4mainEUlvE_EEEEE6_M_runEv"),
            "main::{lambda()#1}");
}

TEST(FunctionNames, OfAThreadThatStdAsyncBeganAreNotTheTypeOfAMemberFunction) {
  const std::string name = short_function_name(
      "_ZNSt6thread11_State_implINS_8_InvokerISt5tupleIJMNSt13__future_base17_Async_state_implINS1_IS2_IJZ4mainEUlvE1_"
      "EEEEiEEFvvE"
      "PS8_EEEEE6_M_runEv");
  EXPECT_TRUE(name.starts_with("std::thread::_State_impl<")) << name;
}

TEST(AllocatorNames, TellTheTypeThatACppContainerAllocates) {
  EXPECT_EQ(type_of_cpp_allocator("__gnu_cxx::new_allocator<app::Node>::allocate"), "app::Node");
  EXPECT_EQ(type_of_cpp_allocator("std::__new_allocator<std::_List_node<int> >::allocate"), "std::_List_node<int>");
  EXPECT_EQ(type_of_cpp_allocator("app::Pool::allocate"), "");
}

}  // namespace
}  // namespace linebounce::record
