// Class templates of the standard library, each with two or three element types, for the comparison with gdb.
#include <any>
#include <array>
#include <atomic>
#include <barrier>
#include <bitset>
#include <chrono>
#include <complex>
#include <condition_variable>
#include <deque>
#include <exception>
#include <forward_list>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <latch>
#include <list>
#include <locale>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <random>
#include <regex>
#include <semaphore>
#include <set>
#include <shared_mutex>
#include <span>
#include <sstream>
#include <stack>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <valarray>
#include <variant>
#include <vector>

struct Small {
  char a;
  bool operator==(const Small&) const = default;
  auto operator<=>(const Small&) const = default;
};
struct Large {
  long a[3];
  char b;
  bool operator==(const Large&) const = default;
  auto operator<=>(const Large&) const = default;
};
template <class T>
struct Hash {
  std::size_t operator()(const T& value) const { return static_cast<std::size_t>(sizeof(value)); }
};

// Not a lambda, whose name is the same for every T.
template <class T>
struct Either {
  T value;
  T operator()(T other) const { return value == other ? value : other; }
};

template <class T>
struct OfElement {
  std::vector<T> vector;
  std::deque<T> deque;
  std::list<T> list;
  std::forward_list<T> forward_list;
  std::array<T, 5> array;
  std::set<T> set;
  std::multiset<T> multiset;
  std::map<T, int> map;
  std::multimap<int, T> multimap;
  std::unordered_set<T, Hash<T>> unordered_set;
  std::unordered_map<T, short, Hash<T>> unordered_map;
  std::unordered_multimap<int, T> unordered_multimap;
  std::stack<T> stack;
  std::queue<T> queue;
  std::priority_queue<T> priority_queue;
  std::optional<T> optional;
  std::variant<T, int, double> variant;
  std::tuple<T, char, T*, double> tuple;
  std::tuple<T, T> pair_tuple;
  std::pair<char, T> pair;
  std::unique_ptr<T> unique;
  std::unique_ptr<T[]> unique_array;
  std::unique_ptr<T, void (*)(T*)> with_deleter{nullptr, nullptr};
  std::shared_ptr<T> shared;
  std::weak_ptr<T> weak;
  std::function<T(T)> function;
  std::span<T> span;
  std::future<T> future;
  std::promise<T> promise;
  std::reference_wrapper<T>* reference = nullptr;
  typename std::map<T, int>::iterator at;
  typename std::unordered_map<T, short, Hash<T>>::iterator at_unordered;
  typename std::deque<T>::iterator at_deque;

  void use(T value) {
    vector.push_back(value);
    deque.push_back(value);
    list.push_back(value);
    forward_list.push_front(value);
    set.insert(value);
    multiset.insert(value);
    map[value] = 1;
    multimap.emplace(1, value);
    unordered_set.insert(value);
    unordered_map[value] = 2;
    unordered_multimap.emplace(1, value);
    stack.push(value);
    queue.push(value);
    priority_queue.push(value);
    optional = value;
    variant.template emplace<0>(value);
    unique = std::make_unique<T>(value);
    shared = std::make_shared<T>(value);
    function = Either<T>{value};
    promise.set_value(value);
    future = promise.get_future();
    array[0] = value;
  }
};

struct Others {
  std::string text;
  std::wstring wide;
  std::u16string sixteen;
  std::string_view view;
  std::bitset<70> bits;
  std::atomic<int> counter;
  std::atomic<Small> small;
  std::atomic_flag flag;
  std::mutex mutex;
  std::recursive_mutex recursive;
  std::timed_mutex timed;
  std::shared_mutex shared;
  std::shared_timed_mutex shared_timed;
  std::condition_variable condition;
  std::condition_variable_any any_condition;
  std::once_flag once;
  std::counting_semaphore<5> semaphore{1};
  std::latch latch{1};
  std::barrier<> barrier{1};
  std::thread thread;
#ifdef __cpp_lib_jthread  // libc++ 14 lacks it
  std::jthread jthread;
  std::stop_source stop;
#endif
  std::any any;
  std::complex<float> complex;
  std::valarray<double> valarray;
  std::chrono::system_clock::time_point time;
  std::chrono::year_month_day date;
  std::mt19937 twister;
  std::minstd_rand minimal;
  std::uniform_int_distribution<int> uniform;
  std::normal_distribution<double> normal;
  std::discrete_distribution<int> discrete;
  std::error_code error;
  std::exception_ptr exception;
  std::type_index type{typeid(int)};
  std::regex regex{"a+b"};
  std::smatch match;
  std::stringstream stream;
  std::ofstream file;
  std::locale locale;
  std::vector<bool> flags;
  std::vector<std::vector<std::string>> nested;
  std::map<std::string, std::vector<std::unique_ptr<Large>>> tree;
  std::variant<std::monostate, std::string, std::vector<int>> choice;
  std::optional<std::tuple<std::string, int, std::pair<char, long>>> deep;
  std::packaged_task<int(int)> task;
  std::istreambuf_iterator<char> input;
  std::back_insert_iterator<std::vector<int>>* output = nullptr;
};

OfElement<int> of_int;
OfElement<char> of_char;
OfElement<Small> of_small;
OfElement<Large> of_large;
OfElement<std::string> of_string;
OfElement<void*> of_pointer;
Others others;

int main() {
  of_int.use(1);
  of_char.use('a');
  of_small.use({});
  of_large.use({});
  of_string.use("x");
  of_pointer.use(nullptr);
  others.tree["x"].push_back(nullptr);
  others.task = std::packaged_task<int(int)>([](int x) { return x + 1; });
  others.text = std::to_string(others.uniform(others.twister));
  return std::regex_search(others.text, others.match, others.regex) ? 1 : 0;
}
