#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "record/beside.hpp"
#include "record/writer.hpp"

namespace plumb {
namespace {

using ::testing::HasSubstr;

class Writer : public ::testing::Test {
 protected:
  Writer() : folder_(std::filesystem::temp_directory_path() / ("plumbline-writer-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Writer() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ / "record.json"; }
  static Json read(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return Json::parse(text.str());
  }
  std::filesystem::path folder_;
};

const Json head{{"schema_version", "1.0.0"}, {"benchmark", {{"name", "b"}}}};

TEST_F(Writer, EveryMomentIsAWholeDocument) {
  RecordWriter writer(path(), head);
  EXPECT_EQ(read(path())["status"], "running");
  EXPECT_TRUE(read(path())["cases"].empty());
  for (int i = 0; i < 20; ++i) {
    writer.add_case({{"key", std::string(static_cast<std::size_t>(100 - i), 'x') + std::to_string(i)}});
    const Json now = read(path());
    EXPECT_EQ(now["cases"].size(), static_cast<std::size_t>(i + 1));
    EXPECT_EQ(now["status"], "running");
    EXPECT_EQ(now["benchmark"]["name"], "b");
  }
  writer.finish({{"status", "complete"}, {"outcome", {{"status", "passed"}, {"reason", nullptr}}}});
  const Json end = read(path());
  EXPECT_EQ(end["status"], "complete");
  EXPECT_EQ(end["cases"].size(), 20u);
  EXPECT_EQ(end, writer.document());
}

TEST_F(Writer, FilesBesideAreNamedAfterTheRecordAndTheirCase) {
  FilesBeside files(path());
  const auto contents = [&](const std::string& name) {
    std::ifstream file(folder_ / name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  };
  EXPECT_TRUE(files.write("stations.csv", "one\n"));
  EXPECT_TRUE(files.append("stations.csv", "two\n"));
  EXPECT_EQ(files.take(), (Json{{"stations.csv", "record.stations.csv"}}));
  EXPECT_TRUE(files.take().empty());
  EXPECT_FALSE(files.append("stations.csv", "of an earlier case\n"));
  EXPECT_TRUE(files.write("stations.csv", "three\n"));
  EXPECT_TRUE(files.write("stations.csv", "four\n"));
  EXPECT_EQ(files.take(), (Json{{"stations.csv", "record.stations-2.csv"}}));
  EXPECT_EQ(contents("record.stations.csv"), "one\ntwo\n");
  EXPECT_EQ(contents("record.stations-2.csv"), "four\n");
  EXPECT_EQ(files.take_problem(), "");
}

TEST_F(Writer, AFileBesideThatCannotBeWrittenIsAProblem) {
  FilesBeside files(folder_ / "none" / "record.json");
  EXPECT_FALSE(files.write("graph", "1"));
  EXPECT_FALSE(files.append("graph", "2"));
  EXPECT_THAT(files.take_problem(), HasSubstr("record.graph"));
  EXPECT_EQ(files.take_problem(), "");
  EXPECT_TRUE(files.take().empty());
}

TEST_F(Writer, ASignalMarksTheRecordAborted) {
  RecordWriter writer(path(), head);
  writer.add_case({{"key", "one"}});
  RecordWriter::abort_from_signal(15);
  const Json now = read(path());
  EXPECT_EQ(now["status"], "aborted");
  EXPECT_EQ(now["reason"], "ended by a signal");
  EXPECT_EQ(now["cases"].size(), 1u);
}

TEST_F(Writer, ASignalWhileACaseIsWrittenLeavesTheCasesBefore) {
  for (const bool by_itself : {false, true}) {
    RecordWriter writer(path(), head);
    writer.add_case({{"key", "one"}});
    std::ofstream(path(), std::ios::app) << ",\n" << std::string(1000, 'x');  // half of a case, behind the old end
    if (by_itself)
      RecordWriter::abort("gave up");
    else
      RecordWriter::abort_from_signal(15);
    const Json now = read(path());
    EXPECT_EQ(now["status"], "aborted");
    EXPECT_EQ(now["cases"].size(), 1u);
  }
}

TEST_F(Writer, AFreshNameIsNobodyElses) {
  const std::string wanted = folder_ / "b_eff-now.json";
  EXPECT_EQ(RecordWriter::claim(wanted), wanted);
  EXPECT_EQ(RecordWriter::claim(wanted), folder_ / "b_eff-now-2.json");
  EXPECT_EQ(RecordWriter::claim(wanted), folder_ / "b_eff-now-3.json");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "b_eff-now-3.json"));
  EXPECT_EQ(RecordWriter::claim("/proc/none/x.json"), "/proc/none/x.json");  // the writer reports the reason
}

TEST_F(Writer, ARunThatGivesUpLeavesItsReason) {
  RecordWriter writer(path(), head);
  writer.add_case({{"key", "one"}});
  RecordWriter::abort("waited 60 s for a barrier");
  RecordWriter::abort_from_signal(15);  // the launcher's next signal
  const Json now = read(path());
  EXPECT_EQ(now["status"], "aborted");
  EXPECT_EQ(now["reason"], "waited 60 s for a barrier");
  EXPECT_EQ(now["cases"].size(), 1u);
}

TEST_F(Writer, AnUnwritablePlaceIsToldNotThrown) {
  RecordWriter writer("/proc/plumbline/record.json", head);
  EXPECT_THAT(writer.problem(), HasSubstr("could not create the record /proc/plumbline/record.json"));
  writer.add_case({{"key", "one"}});
  writer.finish({{"status", "complete"}});
  EXPECT_EQ(writer.document()["cases"].size(), 1u);
}

TEST_F(Writer, AFullDiskIsToldAndTheDocumentIsKept) {
  RecordWriter writer("/dev/full", head);
  EXPECT_THAT(writer.problem(), HasSubstr("No space left"));
  writer.add_case({{"key", "one"}});
  EXPECT_EQ(writer.document()["cases"].size(), 1u);
}

TEST_F(Writer, WithoutAPathNothingIsWritten) {
  RecordWriter writer("", head);
  writer.add_case({{"key", "one"}});
  writer.finish({{"status", "complete"}});
  EXPECT_TRUE(writer.problem().empty());
  EXPECT_EQ(writer.document()["status"], "complete");
}

}  // namespace
}  // namespace plumb
