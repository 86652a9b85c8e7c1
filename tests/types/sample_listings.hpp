// Listings as the tools print them, for the tests of their readers and for mutations.
#pragma once

namespace linebounce::types {

// clang -Xclang -fdump-record-layouts
inline constexpr const char* kClangRecords = R"(
*** Dumping AST Record Layout
         0 | struct app::Empty (empty)
           | [sizeof=1, dsize=1, align=1,
           |  nvsize=1, nvalign=1]

*** Dumping AST Record Layout
         0 | struct app::Base
         0 |   (Base vtable pointer)
         8 |   int id
           | [sizeof=16, dsize=12, align=8,
           |  nvsize=12, nvalign=8]

*** Dumping AST Record Layout
         0 | struct app::Job
         0 |   struct app::Base (primary base)
         0 |     (Base vtable pointer)
         8 |     int id
    12:0-2 |   unsigned int kind
    12:3-4 |   unsigned int 
        16 |   struct app::Base[2] parts
        48 |   int (*)(int, void (*)(int)) call
        56 |   int (*[2])(int) calls
        72 |   struct app::Empty none (empty)
        72 |   union app::Job::(anonymous at a.cpp:9:3) 
        72 |     int number
        72 |     float value
        80 |   char[] tail
           | [sizeof=80, dsize=76, align=8,
           |  nvsize=76, nvalign=8]

*** Dumping AST Record Layout
         0 | union app::Job::(anonymous at a.cpp:9:3)
         0 |   int number
         0 |   float value
           | [sizeof=4, dsize=4, align=4,
           |  nvsize=4, nvalign=4]
)";

// clang -Xclang -fdump-record-layouts-simple
inline constexpr const char* kClangSimpleRecords = R"(
*** Dumping AST Record Layout
Type: struct job

Layout: <ASTRecordLayout
  Size:128
  DataSize:128
  Alignment:64
  FieldOffsets: [0, 64]>
)";

// g++ -fdump-lang-class
inline constexpr const char* kGccClasses = R"(Class app::Base
   size=16 align=8
   base size=12 base align=8
app::Base (0x0x7f91) 0
    vptr=((& app::Base::_ZTVN3app4BaseE) + 16)

Class app::Job
   size=40 align=8
   base size=17 base align=8
app::Job (0x0x7f92) 0
    vptridx=0 vptr=((& app::Job::_ZTVN3app3JobE) + 24)
app::Base (0x0x7f93) 24 virtual
      vptridx=8 vbaseoffset=-24 vptr=((& app::Job::_ZTVN3app3JobE) + 64)

Class app::Empty
   size=1 align=1
   base size=0 base align=1
app::Empty (0x0x7f94) 0 empty
)";

// jol-cli internals; the last is cut off
inline constexpr const char* kJolObjects = R"(# VM mode: 64 bits
# Lilliput VM detected (experimental)
# Object alignment: 8 bytes

app.Job object internals:
OFF  SZ               TYPE DESCRIPTION               VALUE
  0   8                    (object header: mark)     0x0048780000000001 (Lilliput)
  8   1               byte Base.kind                 0
  9   3                    (alignment/padding gap)
 12   4   java.lang.Object Job.next                  null
 16   8           double[] Job.data                  null
Instance size: 24 bytes
Space losses: 3 bytes internal + 0 bytes external = 3 bytes total

app.Old object internals:
 OFFSET  SIZE   TYPE DESCRIPTION                               VALUE
      0     4        (object header)                           05 00 00 00 (00000101 00000000 00000000 00000000) (5)
      4     4        (object header)                           00 00 00 00 (00000000 00000000 00000000 00000000) (0)
      8     4        (object header)                           21 be 00 f8 (00100001 10111110 00000000 11111000) (-134169055)
     12     1   byte Old.flag                                  0
     13     3        (loss due to the next object alignment)
Instance size: 16 bytes
Space losses: 0 bytes internal + 3 bytes external = 3 bytes total

app.Cut object internals:
OFF  SZ               TYPE DESCRIPTION               VALUE
  0   8                    (object header: mark)     0x0
)";

// structlayout -json
inline constexpr const char* kStructlayout =
    R"([{"name":"Job.mu.state","type":"int32","start":0,"end":4,"size":4,"align":4,"is_padding":false},
{"name":"Job._","type":"[4]byte","start":4,"end":8,"size":4,"align":1,"is_padding":false},
{"name":"Job.ok","type":"bool","start":8,"end":9,"size":1,"align":1,"is_padding":false},
{"name":"","type":"","start":9,"end":12,"size":3,"align":0,"is_padding":true}]
[]
[{"name":"Box.value","type":"T","start":0,"end":16,"size":16,"align":8,"is_padding":false}])";

}  // namespace linebounce::types
