// Structures of every kind that the language has, for the comparison with gdb.
#include <cstddef>
#include <cstdint>

namespace store {
struct Node {
  virtual ~Node();
  long key = 0;
  char tail[3];
};
Node::~Node() = default;
namespace {
struct Hidden {
  short low;
  long double wide;
};
Hidden hidden;
}  // namespace
}  // namespace store

namespace view {
struct Node {
  char tag;
};
}  // namespace view

struct Nothing {};
struct alignas(16) WideNothing {};
struct FirstTag : Nothing {
  int value;
};
struct TwoTags {
  [[no_unique_address]] Nothing one;
  [[no_unique_address]] Nothing other;
  char letter;
  [[no_unique_address]] WideNothing wide;
};
class Lender {
 public:
  Lender() {}
  long first;
  char second;
};
struct Borrower : Lender {
  char third;
  short fourth;
};
struct Keeper {
  [[no_unique_address]] Lender lent;
  char beside;
};

struct Packed {
  char a;
  long b;
  short c;
  unsigned d : 5;
  unsigned e : 13;
} __attribute__((packed));
struct HalfPacked {
  char a;
  int b __attribute__((packed));
  long c;
};
#pragma pack(push, 4)
struct ByFours {
  char a;
  double b;
  char c;
};
#pragma pack(pop)
struct alignas(128) Apart {
  int x;
  alignas(32) char y;
};
struct Aligned {
  char c;
  Apart apart;
  alignas(64) int z[3];
};

struct Bits {
  unsigned a : 3;
  unsigned long b : 40;
  unsigned c : 30;
  bool d : 1;
  unsigned : 0;
  signed char e : 5;
  short f : 9;
  int : 7;
  unsigned g : 32;
};
struct BitsBehind {
  char a;
  unsigned b : 4, : 0, c : 5;
  bool d : 1;
  short e : 9;
};
struct BitsOfBytes {
  unsigned char a : 8;
  unsigned char b : 8;
  unsigned c : 16;
};
enum class Colour : unsigned char { red };
struct Mixed {
  Colour colour : 2;
  int numbers[3][2];
  long double wide;
  int (*call)(int);
  int Mixed::*member;
  void (Mixed::*method)();
  decltype(nullptr) none;
  static int count;
  float vector __attribute__((vector_size(32)));
  __int128 large;
  _Complex double complex;
};
int Mixed::count;

struct Unions {
  union {
    long whole;
    struct {
      int low, high;
    };
    unsigned char bytes[12];
  };
  union Named {
    char small;
    double large;
  } named;
  struct {
    unsigned lower : 12;
    unsigned upper : 20;
  } inner;
  char tag;
};
union Alone {
  char letters[7];
  int number;
};
struct Flexible {
  int count;
  short values[];
};
struct ZeroLength {
  long header;
  int values[0];
};

struct Base {
  long b = 1;
  virtual ~Base() {}
};
struct Left : virtual Base {
  int left = 2;
};
struct Right : virtual Base {
  char right = 3;
};
struct Both : Left, Right {
  int both = 4;
};
struct Deeper : Both {
  char deeper = 5;
};
struct Interface {
  virtual void run() {}
};
struct Implements : Interface, Base {
  int value = 0;
};
struct NearlyEmpty : virtual Interface {
  int value = 0;
};
template <class T, int kCount>
struct Ring {
  T slot[kCount];
  unsigned head;
  alignas(64) unsigned tail;
  struct Cursor {
    T* at;
    char state;
  } cursor;
};
struct Recursive {
  Recursive* next;
  struct {
    int unnamed;
  }* pointer;
};

// Unions and structures without names in a template.
template <class T>
struct Slot {
  union {
    T value;
    struct {
      char tag : 3;
      T* next;
    };
  };
  unsigned long low : 40, high : 30;  // across a unit's end
  bool is_used : 1;
};
// An empty base that is also the first member's type, and several empty members.
struct Twice : Nothing {
  [[no_unique_address]] Nothing same;
  Nothing own;
  [[no_unique_address]] Slot<char> slot;
  char in_its_padding;
};
// A virtual base of a virtual base, and members in the padding of a base with one.
struct Root {
  virtual ~Root() = default;
  int id;
};
struct Middle : virtual Root {
  char middle;
};
struct Leaf : virtual Middle, Lender {
  char leaf;
};
namespace store::inner {
class Node;  // is defined below; store::Node and view::Node are others
struct Owner {
  Node* node;
  char letter;
};
class Node {
  double values[3];
  friend struct Owner;
};
}  // namespace store::inner
struct __attribute__((packed, aligned(2))) PackedBits {
  unsigned a : 9;
  unsigned char b;
  unsigned long c : 33;
  short d;
};
union Overlaid {
  unsigned a : 3;
  unsigned char bytes[7];
  Packed packed;
};
struct Wide {
  __int128 sum;
  alignas(32) char apart;
  float vector __attribute__((vector_size(16)));
};

struct Holder {
  store::Node node;
  view::Node other;
  FirstTag first;
  TwoTags two;
  Borrower borrower;
  Keeper keeper;
  Packed packed;
  HalfPacked half;
  ByFours fours;
  Aligned aligned;
  Bits bits;
  BitsBehind behind;
  BitsOfBytes of_bytes;
  Mixed mixed;
  Unions unions;
  Alone alone;
  ZeroLength zero;
  Deeper deeper;
  Implements implements;
  NearlyEmpty nearly;
  Ring<char, 3> small;
  Ring<Unions, 5> large;
  Recursive recursive;
  Slot<char> slot;
  Slot<double> wide_slot;
  Twice twice;
  store::inner::Owner owner;
  store::inner::Node node_of_owner;
  PackedBits packed_bits;
  Overlaid overlaid;
  Wide wide;
};
Middle middle;
Leaf leaf;
Holder holder;
Flexible* flexible;
Right right;
Left left;
Both both;

int main(int argc, char**) {
  struct Local {
    char a;
    long b;
  };
  Local local{static_cast<char>(argc), argc};
  auto lambda = [&local, argc]() { return local.b + argc; };
  store::hidden.low = 1;
  return static_cast<int>(lambda()) + static_cast<int>(holder.node.key) + (flexible != nullptr ? flexible->count : right.right + left.left + both.both);
}
