// Runtime `hls`: kernels found in a text, streams that are bounded, and messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "core/patience.hpp"
#include "device/hls/text.hpp"
#include "device/select.hpp"

namespace plumb {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> described(const std::string& preprocessed) {
  std::vector<std::string> list;
  for (const hls::Declared& kernel : hls::kernels_in(preprocessed, "k.cpp")) {
    std::string text = kernel.name + ":";
    for (const std::string& parameter : kernel.parameters) text += " " + parameter;
    list.push_back(text);
  }
  return list;
}

TEST(HlsText, FindsFunctionsWithCLinkage) {
  const std::string text =
      "# 1 \"k.cpp\"\n"
      "struct S { void (*f)(int); };\nstatic void helper(int a) { if (a) { } }\n"
      "extern \"C\" {\n#pragma HLS something extern \"C\" void not(int x) {\n"
      "void first(const float* in, S s[4], hls::stream<vec<int, 3> >& out) { helper(1); }\n"
      "void declared(int a);\n"
      "void none() { const char* t = \"} void quoted(int a) {\"; char c = '\\''; }\n"
      "int no_kernel(int a) { return a; }\n"
      "}\n"
      "extern \"C\" void last(unsigned long n) { }\n"
      "void cpp_linkage(int n) { }\n";
  EXPECT_THAT(described(text), ElementsAre("first: in s out", "none:", "last: n"));
}

TEST(HlsText, LeavesHeadersOut) {
  const std::string text =
      "# 1 \"k.cpp\"\n# 1 \"header.h\" 1\nextern \"C\" void of_header(int a) { }\n"
      "# 2 \"k.cpp\" 2\nextern \"C\" void own(int a) { }\n";
  EXPECT_THAT(described(text), ElementsAre("own: a"));
  EXPECT_THAT(hls::kernels_in("", "k.cpp"), IsEmpty());
}

TEST(HlsText, RefusesAKernelThatIsDefinedTwice) {
  EXPECT_THROW(described("# 1 \"k.cpp\"\nextern \"C\" void a() { }\nextern \"C\" void a() { }\n"), Error);
}

const char* const pipeline = R"(
#include "hls_stream.h"
extern "C" {
void source(const int* from, int count, hls::stream<int>& numbers) {
  for (int i = 0; i < count; ++i) numbers.write(from[i]);
}
void sink(int* to, int count, hls::stream<int>& numbers) {
  for (int i = 0; i < count; ++i) to[i] = numbers.read();
}
void chars(int count, hls::stream<char>& numbers) {
  for (int i = 0; i < count; ++i) numbers.write('a');
}
}
)";

// Of `wanted` numbers that a kernel writes, another reads `read` of them.
class Hls : public testing::Test {
 protected:
  Hls() {
    const DeviceCatalogue catalogue;
    if (const std::string reason = catalogue.why_none("hls"); !reason.empty()) {
      skipped_ = reason;
      return;
    }
    device_ = catalogue.open(catalogue.choose({.runtime = "hls"}, 0, 1, 0));
    kernel_patience_s = 0.05;
  }
  ~Hls() override { kernel_patience_s = 30; }
  void SetUp() override {
    if (!device_) GTEST_SKIP() << skipped_;
  }

  static KernelSource source(const std::vector<StreamLink>& streams, const std::string& text = pipeline) {
    KernelSource source;
    source.name = "pipeline.cpp";
    source.hls = text;
    source.streams = streams;
    return source;
  }
  static std::vector<StreamLink> linked(std::size_t depth) { return {{"source.numbers", "sink.numbers", depth}}; }

  // What sink has written to its first `read` numbers.
  std::vector<int> moved(const KernelSource& source, int written, int read) {
    const auto program = device_->build(source);
    const auto from = device_->allocate(sizeof(int) * 100, {}), to = device_->allocate(sizeof(int) * 100, {});
    const auto first = device_->make_queue(), second = device_->make_queue();
    std::vector<int> numbers(100), result(100);
    std::iota(numbers.begin(), numbers.end(), 7);
    first->write(reinterpret_cast<std::byte*>(numbers.data()), whole(*from));
    const auto out = program->kernel("source"), in = program->kernel("sink");
    out->set({from.get(), written});
    in->set({to.get(), read});
    first->enqueue(*out, {});
    second->enqueue(*in, {});
    second->finish();
    first->finish();
    second->read(whole(*to), reinterpret_cast<std::byte*>(result.data()));
    result.resize(static_cast<std::size_t>(read));
    return result;
  }

  std::string problem(const KernelSource& source, int written = 10, int read = 10) {
    try {
      moved(source, written, read);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  std::unique_ptr<Device> device_;
  std::string skipped_;
};

TEST_F(Hls, StreamsNumbersBetweenKernels) {
  for (const std::size_t depth : {1, 3, 1000})
    EXPECT_THAT(moved(source(linked(depth)), 5, 5), ElementsAre(7, 8, 9, 10, 11)) << depth;
}

// Kernels and streams of the same names, with elements of another size.
TEST_F(Hls, TextsOfTheSameNamesAreIndependent) {
  const auto first = device_->build(source(linked(2)));
  std::string text = pipeline;
  for (std::size_t at = text.find("stream<int>"); at != std::string::npos; at = text.find("stream<int>"))
    text.replace(at, 11, "stream<long long>");
  EXPECT_THAT(moved(source(linked(2), text), 3, 3), ElementsAre(7, 8, 9));
  EXPECT_THAT(problem(source({{"source.numbers", "sink.numbers"}, {"chars.numbers", "sink.numbers"}}, text)),
              HasSubstr("those of sink.numbers have 8"));
}

TEST_F(Hls, ADeadlockEndsWithTheStreamsName) {
  EXPECT_THAT(problem(source(linked(2)), 9, 10),
              AllOf(HasSubstr("to read from stream source.numbers to sink.numbers"), HasSubstr("stayed empty")));
  EXPECT_THAT(problem(source(linked(2)), 13, 10), AllOf(HasSubstr("to write to"), HasSubstr("stayed full")));
}

TEST_F(Hls, ElementsMustNotBeLeft) {
  EXPECT_THAT(problem(source(linked(2)), 12, 10), HasSubstr("2 elements were left in stream source.numbers"));
}

TEST_F(Hls, AStreamWithinAKernelIsBounded) {
  const std::string text =
      "#include \"hls_stream.h\"\nextern \"C\" void source(const int*, int count) {\n"
      "hls::stream<int, 4> inner(\"inner\");\nfor (int i = 0; i < count; ++i) inner << i; }\n"
      "extern \"C\" void sink(int* to, int) { to[0] = 0; }\n";
  EXPECT_EQ(problem(source({}, text), 4), "nothing was thrown");
  EXPECT_THAT(problem(source({}, text), 5), AllOf(HasSubstr("\"inner\""), HasSubstr("stayed full")));
}

TEST_F(Hls, RefusesWrongLinks) {
  EXPECT_THAT(problem(source({})), HasSubstr("stream source.numbers is not connected"));
  EXPECT_THAT(problem(source({{"source.numbers", "drain.numbers"}})), HasSubstr("drain.numbers"));
  EXPECT_THAT(problem(source({{"source.count", "sink.numbers"}})), HasSubstr("no stream for the end source.count"));
  EXPECT_THAT(problem(source({{"chars.numbers", "sink.numbers"}})), HasSubstr("have 1 bytes"));
  EXPECT_THAT(problem(source({linked(2)[0], {"chars.numbers", "/nowhere/at/all"}})), HasSubstr("/nowhere/at/all"));
  EXPECT_THAT(problem(source({linked(2)[0], linked(2)[0]})), HasSubstr("connected twice"));
}

TEST_F(Hls, NamesTheArgumentThatDoesNotFit) {
  const auto program = device_->build(source(linked(2)));
  const auto kernel = program->kernel("sink");
  const auto memory = device_->allocate(4, {});
  const auto message = [&](const std::vector<KernelArgument>& arguments) {
    try {
      kernel->set(arguments);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_THAT(message({memory.get()}), HasSubstr("takes 2 arguments, but 1 were given"));
  EXPECT_EQ(message({memory.get(), 1.0}),
            "argument 1 of kernel sink must be an integer of 4 bytes, but is a floating-point number of 8 bytes");
  EXPECT_THROW(device_->make_queue()->enqueue(*program->kernel("sink"), {}), Error) << "no arguments";
  kernel->set({memory.get(), 1});
  EXPECT_THROW(device_->make_queue()->enqueue(*kernel, {2, 0}), Error) << "one work item";
}

TEST_F(Hls, BuildErrorsHaveTheLog) {
  EXPECT_THAT(problem(source({}, "extern \"C\" void source(int* a) { a[0] = not_declared; }")),
              AllOf(HasSubstr("pipeline.cpp:1"), HasSubstr("not_declared")));
  EXPECT_THAT(problem(source({}, "void source(int* a) { a[0] = 1; }")), HasSubstr("has no kernel"));
  EXPECT_THROW(device_->build({"only.cl", "kernel void f() {}"}), Unsupported);
}

// The first run fills the cache; in the second the compiler could not be found.
TEST_F(Hls, CompilesATextOnce) {
  const std::string folder = testing::TempDir() + "plumb-hls-cache", before = std::getenv("PATH");
  const std::string tools = folder + "/tools";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(tools);
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const std::string old = cache == nullptr ? "" : cache;
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  std::filesystem::create_symlink("/usr/bin/g++", tools + "/g++");
  setenv("PATH", (tools + ":" + before).c_str(), 1);
  moved(source(linked(2)), 3, 3);
  std::size_t libraries = 0;
  std::filesystem::file_time_type made;
  const auto look = [&] {
    libraries = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder))
      if (file.path().filename() == "kernels.so") {
        ++libraries;
        made = file.last_write_time();
      }
  };
  look();
  EXPECT_EQ(libraries, 1u);
  const auto first = made;
  moved(source(linked(9)), 3, 3);  // links are no part of the text
  look();
  EXPECT_EQ(libraries, 1u);
  EXPECT_EQ(made, first);
  moved(source(linked(2), std::string(pipeline) + "// changed\n"), 3, 3);
  look();
  EXPECT_EQ(libraries, 2u);
  setenv("PATH", tools.c_str(), 1);
  std::filesystem::remove(tools + "/g++");
  EXPECT_THAT(problem(source(linked(2))), HasSubstr("g++, which is not in PATH"));
  setenv("PATH", before.c_str(), 1);
  old.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", old.c_str(), 1);
  std::filesystem::remove_all(folder);
}

// hls_half.h against the engine's conversion, for every half and for values between two of them.
TEST_F(Hls, HalfRoundsAsTheEngineDoes) {
  const std::string text =
      "#include \"hls_half.h\"\n#include <string.h>\n"
      "extern \"C\" void source(const int* in, int n) { (void)in; (void)n; }\n"
      "extern \"C\" void sink(int* out, int n) {\n  float sum = 0;\n"
      "  out[0] = out[1] = 0;\n"
      "  for (unsigned i = 0; i < 0x7c00; ++i) {\n"
      "    half h; unsigned short s = (unsigned short)i; memcpy(&h, &s, 2);\n"
      "    const float f = h; half back(f); unsigned short b; memcpy(&b, &back, 2);\n"
      "    if (b != s) ++out[0];\n"
      "    half next; unsigned short t = (unsigned short)(i + 1); memcpy(&next, &t, 2);\n"
      "    if (i + 1 < 0x7c00) {\n"
      "      half middle((f + (float)next) / 2); memcpy(&b, &middle, 2);\n"
      "      if (b != (s & 1 ? t : s)) ++out[1];\n    }\n  }\n"
      "  out[2] = (int)(float)(half(1.0f) + half(2048.0f));\n"
      "  out[3] = (float)half(65520.0f) > 1e30f && (float)half(65519.0f) == 65504.0f;\n}\n";
  EXPECT_THAT(moved(source({}, text), 1, 4), ElementsAre(0, 0, 2048, 1));
}

}  // namespace
}  // namespace plumb
