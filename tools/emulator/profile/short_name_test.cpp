// Long names of C++ become short, and stay readable.
#include "short_name.hpp"

#include <gtest/gtest.h>

namespace weir::emulator {
namespace {

TEST(ShortName, LosesParametersAndTemplateArguments) {
  EXPECT_EQ(short_name("weir::engine::run(weir::task*, int)"), "weir::engine::run");
  EXPECT_EQ(short_name("std::map<int, std::string, std::less<int> >::find(int const&) const"), "std::map::find");
  EXPECT_EQ(short_name("outer<(kind)3>::inner<(5 > 3)>::go() &&"), "outer::inner::go");
  EXPECT_EQ(short_name("(anonymous namespace)::heat(std::vector<double>&)"), "heat");
  EXPECT_EQ(short_name("a::(anonymous namespace)::b::heat(int)"), "a::b::heat");
  EXPECT_EQ(short_name("a::f[abi:cxx11](int)"), "a::f[abi:cxx11]");
  EXPECT_EQ(short_name("thing<int>::~thing()"), "thing::~thing");
}

TEST(ShortName, LosesTheTypeThatIsReturned) {
  EXPECT_EQ(short_name("void run<int>(int)"), "run");
  EXPECT_EQ(short_name("std::vector<int, std::allocator<int> > a::make<int>(std::function<void (int)>)"), "a::make");
  EXPECT_EQ(short_name("unsigned long const& std::max<unsigned long>(unsigned long const&)"), "std::max");
  EXPECT_EQ(short_name("decltype(auto) apply<int>(int)"), "apply");
  EXPECT_EQ(short_name("decltype ((f)((x))) call<int>(int)"), "call");
}

TEST(ShortName, KeepsWhatAFunctionIsLocalTo) {
  EXPECT_EQ(short_name("main::{lambda(int, double)#1}::operator()(int, double) const"), "main::{lambda#1}::operator()");
  EXPECT_EQ(short_name("void sweep<int>(int)::{lambda(auto:1)#2}::operator()<a::view<double> >(a::view<double>) const"),
            "sweep::{lambda#2}::operator()");
  EXPECT_EQ(short_name("a::b(int) const::{lambda()#1}::operator()() const"), "a::b::{lambda#1}::operator()");
}

TEST(ShortName, KnowsOperators) {
  EXPECT_EQ(short_name("std::ostream& operator<< <char>(std::ostream&, char)"), "operator<<");
  EXPECT_EQ(short_name("a::operator<(a const&) const"), "a::operator<");
  EXPECT_EQ(short_name("bool operator< <int>(a<int>, a<int>)"), "operator<");
  EXPECT_EQ(short_name("bool operator==<int>(a<int>, a<int>)"), "operator==");
  EXPECT_EQ(short_name("std::unique_ptr<int>::operator->() const"), "std::unique_ptr::operator->");
  EXPECT_EQ(short_name("a::operator<=>(a const&) const"), "a::operator<=>");
  EXPECT_EQ(short_name("a::operator()<int>(int)"), "a::operator()");
  EXPECT_EQ(short_name("std::vector<int>::operator[](unsigned long)"), "std::vector::operator[]");
  EXPECT_EQ(short_name("a::operator std::vector<int>() const"), "a::operator std::vector<int>");
  EXPECT_EQ(short_name("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(short_name("operators::run(int)"), "operators::run");
}

TEST(ShortName, TellsClonesApart) {
  EXPECT_EQ(short_name("relax(double*, int) [clone ._omp_fn.0]"), "relax [clone ._omp_fn.0]");
  EXPECT_EQ(short_name("void relax<int>(int) const [clone .cold]"), "relax [clone .cold]");
}

TEST(ShortName, LeavesOtherNamesAlone) {
  for (const char* name : {"main", "main._omp_fn.0", "__memcpy_avx_unaligned_erms", "[kernel]", "[unnamed]", "", "(",
                           "operator", "void (*choose(int))(double)"})
    EXPECT_EQ(short_name(name), name);
}

}  // namespace
}  // namespace weir::emulator
