// Collectives: blocking, non-blocking with computing, persistent, and among neighbours. A collective is a row of
// `collectives()`: sizes of a rank's operands, the source of each received byte, and MPI's three functions. All ranks'
// results are compared whole; of operations before a sample's last, the bytes that no later one overwrites.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "benchmarks/osu/computing.hpp"
#include "benchmarks/osu/mpi/mpi_row.hpp"
#include "core/data.hpp"
#include "core/units.hpp"
#include "world/mpi.hpp"
#include "world/mpi_later.hpp"

namespace plumb::osu {

namespace {

constexpr std::size_t packed_operand = 1024;  // longer buffers slide
constexpr int barrier_tag = 1;                // of the messages that prove a barrier

// Bytes [target, target + length) of a rank's receive buffer come from `source` in another's send buffer, or are
// reduced over all ranks.
struct Piece {
  int from = 0;
  std::size_t source = 0, target = 0, length = 0;
};
constexpr int all_ranks = -1;
using Pieces = std::vector<Piece>;

// Factors of a number, as near each other as its prime factors allow: the largest of them go to the smallest side.
std::vector<int> even_sides(int ranks, int dimensions) {
  std::vector<int> sides(static_cast<std::size_t>(dimensions), 1), primes;
  for (int factor = 2; ranks > 1; ranks % factor == 0 ? ranks /= factor : ++factor)
    if (ranks % factor == 0) primes.push_back(factor);
  for (auto prime = primes.rbegin(); prime != primes.rend(); ++prime) *std::ranges::min_element(sides) *= *prime;
  return sides;
}

// The other ends of the graph's edges at a rank; or in a torus of the given dimensions, as even as possible, the
// `radius` nearest on either side in each. Each once: libraries order several edges between the same two ranks
// differently.
std::vector<int> neighbours_of(const Setting& s, int rank) {
  std::vector<int> around;
  const auto add = [&around](int other) {
    if (std::ranges::find(around, other) == around.end()) around.push_back(other);
  };
  for (const auto& [from, to] : s.wishes->edges) {
    if (from == rank) add(to);
    if (to == rank) add(from);
  }
  if (!s.wishes->edges.empty()) return around;
  const std::vector<int> sides = even_sides(s.ranks, s.wishes->dimensions);
  int inner = s.ranks;
  for (const int side : sides) {
    inner /= side;
    const int here = rank / inner % side;
    for (int step = 1; step <= s.wishes->radius; ++step)
      for (const int there : {(here + side - step % side) % side, (here + step) % side})
        add(rank + (there - here) * inner);
  }
  return around;
}

// Parameters of a collective; `block` is the number of bytes from one rank to one.
struct Shape {
  Shape(const Setting& s, bool among_neighbours, int root_rank)
      : rank(s.rank), ranks(s.ranks), root(root_rank), type(s.wishes->type), comm(s.comm) {
    count = static_cast<int>(s.bytes / type->bytes);
    block = static_cast<std::size_t>(count) * type->bytes;
    if (among_neighbours) neighbours = neighbours_of(s, s.rank);
    const std::size_t parts = among_neighbours ? neighbours.size() : static_cast<std::size_t>(ranks);
    counts.assign(parts, count);
    for (std::size_t i = 0; i < parts; ++i) {
      offsets.push_back(static_cast<int>(i) * count);
      byte_offsets.push_back(static_cast<int>(i * block));
      wide_offsets.push_back(static_cast<MPI_Aint>(i * block));
    }
    for (int i = 0; i < ranks; ++i) portions.push_back(count / ranks + (i < count % ranks ? 1 : 0));
    if (s.wishes->operation != nullptr) operation = s.wishes->operation->handle;
    handle = type->handle;
    value = type->reduced != MPI_DATATYPE_NULL ? type->reduced : handle;
    handles.assign(parts, handle);
    in_place = s.wishes->in_place;
    if (among_neighbours)
      for (const int neighbour : neighbours) theirs.push_back(neighbours_of(s, neighbour));
  }
  int rank, ranks, root;
  const Type* type;
  MPI_Comm comm;
  int count = 0;
  std::size_t block = 0;
  std::vector<int> counts, offsets, byte_offsets, portions;  // of the parts; of reductions that scatter
  std::vector<MPI_Aint> wide_offsets;
  std::vector<MPI_Datatype> handles;
  std::vector<int> neighbours;
  std::vector<std::vector<int>> theirs;                                // the neighbours of each rank
  MPI_Datatype handle = MPI_DATATYPE_NULL, value = MPI_DATATYPE_NULL;  // of a block; of the reduced values
  MPI_Op operation = MPI_OP_NULL;
  bool in_place = false;
};

struct Operands {
  const void* send;
  void* receive;
};

// Which bytes a rank receives: of the root's or of all ranks' operands the whole or its own part, or reduced values.
enum class Gets {
  nothing,
  whole_of_root,
  part_of_root,
  whole_of_all,
  all_at_root,
  part_of_all,
  reduced,
  reduced_at_root,
  reduced_share,
  reduced_block,
  whole_of_neighbours,
  part_of_neighbours
};

Pieces pieces_of(Gets gets, const Shape& s) {
  using enum Gets;
  const bool is_root = s.rank == s.root;
  const std::size_t mine = s.rank * s.block, equal = s.count / s.ranks * s.type->bytes;
  std::size_t before = 0;
  for (int rank = 0; rank < s.rank; ++rank) before += s.portions[rank] * s.type->bytes;
  Pieces pieces;
  switch (gets) {
    case nothing:
      return {};
    case whole_of_root:
      return is_root ? Pieces{} : Pieces{{s.root, 0, 0, s.block}};
    case part_of_root:
      return {{s.root, mine, 0, s.block}};
    case reduced_at_root:
      return is_root ? Pieces{{all_ranks, 0, 0, s.block}} : Pieces{};
    case reduced:
      return {{all_ranks, 0, 0, s.block}};
    case reduced_share:
      return {{all_ranks, before, 0, s.portions[s.rank] * s.type->bytes}};
    case reduced_block:
      return {{all_ranks, s.rank * equal, 0, equal}};
    case whole_of_neighbours:
    case part_of_neighbours:
      for (std::size_t k = 0; k < s.neighbours.size(); ++k) {
        const auto me = std::ranges::find(s.theirs[k], s.rank) - s.theirs[k].begin();
        const std::size_t place = gets == part_of_neighbours ? static_cast<std::size_t>(me) * s.block : 0;
        pieces.push_back({s.neighbours[k], place, k * s.block, s.block});
      }
      return pieces;
    default:
      for (int rank = 0; rank < s.ranks && (is_root || gets != all_at_root); ++rank)
        pieces.push_back({rank, gets == part_of_all ? mine : 0, rank * s.block, s.block});
      return pieces;
  }
}

// Size of a rank's operand.
enum class Gives { nothing, block, all_blocks, block_of_root, blocks_of_root, equal_portions };

std::size_t bytes_of(Gives gives, const Shape& s) {
  using enum Gives;
  if (gives == equal_portions) return s.count / s.ranks * s.ranks * s.type->bytes;
  if (gives == nothing || (gives >= block_of_root && s.rank != s.root)) return 0;
  return gives == block || gives == block_of_root ? s.block : s.block * s.counts.size();
}

// A rank's own part in place of its send buffer.
const void* source(const Shape& s, const Operands& o) {
  return s.in_place ? MPI_IN_PLACE : o.send;
}
const void* source_of_root(const Shape& s, const Operands& o) {
  return s.in_place && s.rank == s.root ? MPI_IN_PLACE : o.send;
}
void* target_of_root(const Shape& s, const Operands& o) {
  return s.in_place && s.rank == s.root ? MPI_IN_PLACE : o.receive;
}

struct Functions {
  std::function<int(const Shape&, const Operands&)> blocking = {};
  std::function<int(const Shape&, const Operands&, MPI_Request*)> begin = {}, init = {};
};

// A function, its non-blocking and its persistent form (null if the library has none), which take the same
// arguments.
template <class Blocking, class Begin, class Init, class Arguments>
Functions functions(Blocking blocking, Begin begin, Init init, Arguments arguments) {
  Functions all;
  all.blocking = [=](const Shape& s, const Operands& o) { return std::apply(blocking, arguments(s, o)); };
  all.begin = [=](const Shape& s, const Operands& o, MPI_Request* request) {
    return std::apply(begin, std::tuple_cat(arguments(s, o), std::tuple(request)));
  };
  if constexpr (!std::is_null_pointer_v<Init>)
    if (init != nullptr)
      all.init = [=](const Shape& s, const Operands& o, MPI_Request* request) {
        return std::apply(init, std::tuple_cat(arguments(s, o), std::tuple(MPI_INFO_NULL, request)));
      };
  return all;
}

// For comparison with the hardware (nccl-tests' busbw): how many times the size crosses a link.
enum class Bus { none, once, all_but_own, twice_all_but_own };

// Where a rank's own part lies with MPI_IN_PLACE.
enum class Own { unsupported, at_begin, at_its_block };

struct Collective {
  const char* name;   // osu_NAME, osu_iNAME, osu_NAME_persistent
  const char* title;  // "Allgather"
  Gives gives;
  Gets gets;
  Bus bus;
  Own own;
  Functions functions;
  bool reduces() const { return gets >= Gets::reduced && gets <= Gets::reduced_block; }
  bool is_barrier() const { return gives == Gives::nothing; }
  bool is_among_neighbours() const { return gets >= Gets::whole_of_neighbours; }
  bool takes_root() const {
    return gets == Gets::all_at_root || gets == Gets::part_of_root || gets == Gets::reduced_at_root;
  }
};

const auto allgather = [](const Shape& s, const Operands& o) {
  return std::tuple(source(s, o), s.count, s.handle, o.receive, s.count, s.handle, s.comm);
};
const auto allgatherv = [](const Shape& s, const Operands& o) {
  return std::tuple(source(s, o), s.count, s.handle, o.receive, s.counts.data(), s.offsets.data(), s.handle, s.comm);
};
const auto alltoall = allgather;
const auto alltoallv = [](const Shape& s, const Operands& o) {
  return std::tuple(source(s, o), s.counts.data(), s.offsets.data(), s.handle, o.receive, s.counts.data(),
                    s.offsets.data(), s.handle, s.comm);
};
const auto alltoallw = [](const Shape& s, const Operands& o) {
  return std::tuple(source(s, o), s.counts.data(), s.byte_offsets.data(), s.handles.data(), o.receive, s.counts.data(),
                    s.byte_offsets.data(), s.handles.data(), s.comm);
};
const auto neighbor_alltoallw = [](const Shape& s, const Operands& o) {
  return std::tuple(o.send, s.counts.data(), s.wide_offsets.data(), s.handles.data(), o.receive, s.counts.data(),
                    s.wide_offsets.data(), s.handles.data(), s.comm);
};
const auto barrier = [](const Shape& s, const Operands&) { return std::tuple(s.comm); };
const auto bcast = [](const Shape& s, const Operands& o) {
  return std::tuple(s.rank == s.root ? const_cast<void*>(o.send) : o.receive, s.count, s.handle, s.root, s.comm);
};
const auto gather = [](const Shape& s, const Operands& o) {
  return std::tuple(source_of_root(s, o), s.count, s.handle, o.receive, s.count, s.handle, s.root, s.comm);
};
const auto gatherv = [](const Shape& s, const Operands& o) {
  return std::tuple(source_of_root(s, o), s.count, s.handle, o.receive, s.counts.data(), s.offsets.data(), s.handle,
                    s.root, s.comm);
};
const auto scatter = [](const Shape& s, const Operands& o) {
  return std::tuple(o.send, s.count, s.handle, target_of_root(s, o), s.count, s.handle, s.root, s.comm);
};
const auto scatterv = [](const Shape& s, const Operands& o) {
  return std::tuple(o.send, s.counts.data(), s.offsets.data(), s.handle, target_of_root(s, o), s.count, s.handle,
                    s.root, s.comm);
};
const auto reduce = [](const Shape& s, const Operands& o) {
  return std::tuple(source_of_root(s, o), o.receive, s.count, s.value, s.operation, s.root, s.comm);
};
const auto allreduce = [](const Shape& s, const Operands& o) {
  return std::tuple(source(s, o), o.receive, s.count, s.value, s.operation, s.comm);
};
const auto reduce_scatter = [](const Shape& s, const Operands& o) {
  return std::tuple(source(s, o), o.receive, s.portions.data(), s.value, s.operation, s.comm);
};
const auto reduce_scatter_block = [](const Shape& s, const Operands& o) {
  return std::tuple(source(s, o), o.receive, s.count / s.ranks, s.value, s.operation, s.comm);
};

std::vector<Collective> collectives() {
  namespace later = mpi_later;
  using enum Gives;
  using enum Own;
  constexpr auto none = nullptr;
  return {{"allgather", "Allgather", block, Gets::whole_of_all, Bus::all_but_own, at_its_block,
           functions(MPI_Allgather, MPI_Iallgather, later::allgather_init, allgather)},
          {"allgatherv", "Allgatherv", block, Gets::whole_of_all, Bus::all_but_own, at_its_block,
           functions(MPI_Allgatherv, MPI_Iallgatherv, later::allgatherv_init, allgatherv)},
          {"allreduce", "Allreduce", block, Gets::reduced, Bus::twice_all_but_own, at_begin,
           functions(MPI_Allreduce, MPI_Iallreduce, later::allreduce_init, allreduce)},
          {"alltoall", "All-to-All Personalized Exchange", all_blocks, Gets::part_of_all, Bus::all_but_own, at_begin,
           functions(MPI_Alltoall, MPI_Ialltoall, later::alltoall_init, alltoall)},
          {"alltoallv", "All-to-Allv Personalized Exchange", all_blocks, Gets::part_of_all, Bus::all_but_own, at_begin,
           functions(MPI_Alltoallv, MPI_Ialltoallv, later::alltoallv_init, alltoallv)},
          {"alltoallw", "All-to-Allw Personalized Exchange", all_blocks, Gets::part_of_all, Bus::all_but_own, at_begin,
           functions(MPI_Alltoallw, MPI_Ialltoallw, later::alltoallw_init, alltoallw)},
          {"barrier", "Barrier", nothing, Gets::nothing, Bus::none, unsupported,
           functions(MPI_Barrier, MPI_Ibarrier, later::barrier_init, barrier)},
          {"bcast", "Broadcast", block_of_root, Gets::whole_of_root, Bus::once, unsupported,
           functions(MPI_Bcast, MPI_Ibcast, later::bcast_init, bcast)},
          {"gather", "Gather", block, Gets::all_at_root, Bus::all_but_own, at_its_block,
           functions(MPI_Gather, MPI_Igather, later::gather_init, gather)},
          {"gatherv", "Gatherv", block, Gets::all_at_root, Bus::all_but_own, at_its_block,
           functions(MPI_Gatherv, MPI_Igatherv, later::gatherv_init, gatherv)},
          {"reduce", "Reduce", block, Gets::reduced_at_root, Bus::once, at_begin,
           functions(MPI_Reduce, MPI_Ireduce, later::reduce_init, reduce)},
          {"reduce_scatter", "Reduce_scatter", block, Gets::reduced_share, Bus::all_but_own, at_begin,
           functions(MPI_Reduce_scatter, MPI_Ireduce_scatter, later::reduce_scatter_init, reduce_scatter)},
          {"reduce_scatter_block", "Reduce_scatter_block", equal_portions, Gets::reduced_block, Bus::all_but_own,
           at_begin, functions(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, none, reduce_scatter_block)},
          {"scatter", "Scatter", blocks_of_root, Gets::part_of_root, Bus::all_but_own, at_begin,
           functions(MPI_Scatter, MPI_Iscatter, later::scatter_init, scatter)},
          {"scatterv", "Scatterv", blocks_of_root, Gets::part_of_root, Bus::all_but_own, at_begin,
           functions(MPI_Scatterv, MPI_Iscatterv, later::scatterv_init, scatterv)},
          {"neighbor_allgather", "Neighborhood Allgather", block, Gets::whole_of_neighbours, Bus::none, unsupported,
           functions(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, none, allgather)},
          {"neighbor_allgatherv", "Neighborhood Allgatherv", block, Gets::whole_of_neighbours, Bus::none, unsupported,
           functions(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, none, allgatherv)},
          {"neighbor_alltoall", "Neighborhood All-to-All", all_blocks, Gets::part_of_neighbours, Bus::none, unsupported,
           functions(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, none, alltoall)},
          {"neighbor_alltoallv", "Neighborhood All-to-Allv", all_blocks, Gets::part_of_neighbours, Bus::none,
           unsupported, functions(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, none, alltoallv)},
          {"neighbor_alltoallw", "Neighborhood All-to-Allw", all_blocks, Gets::part_of_neighbours, Bus::none,
           unsupported, functions(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, none, neighbor_alltoallw)}};
}

enum class Mode { blocking, overlapped, persistent };

// Places of one rank's operands in a sample, the same arithmetic for planning and running.
struct Extent {
  Extent(const Collective& one, const Setting& s) {
    const int first = std::max(s.wishes->root, 0), end = s.wishes->root < 0 ? s.ranks : first + 1;
    for (int root = first; root < end; ++root) shapes.emplace_back(s, one.is_among_neighbours(), root);
    std::size_t send = 0, receive = 0;
    for (const Shape& shape : shapes) {
      send = std::max(send, bytes_of(one.gives, shape));
      for (const Piece& piece : pieces_of(one.gets, shape)) receive = std::max(receive, piece.target + piece.length);
    }
    // The same on all ranks: places may differ, contents must not.
    const std::size_t unit = shapes[0].type->bytes;
    std::size_t blocks = std::max<std::size_t>(shapes[0].counts.size(), 1);
    for (int rank = 0; one.is_among_neighbours() && rank < s.ranks; ++rank)
      blocks = std::max(blocks, neighbours_of(s, rank).size());
    const std::size_t longest = std::max(s.bytes, unit) * blocks;
    const std::size_t packed = longest <= packed_operand ? longest : 0;
    sources = Places::sources(longest, 1, s.most(), packed, s.wishes->sliding);
    targets = Places::targets(longest, 1, s.most(), packed, s.wishes->sliding);
    sends = send;
    receives = receive;
  }
  const Shape& shape(std::uint64_t operation) const {
    return shapes.size() == 1 ? shapes[0] : shapes[operation % shapes.size()];
  }
  std::vector<Shape> shapes;  // one per root, of rotating roots
  Places sources, targets;
  std::size_t sends = 0, receives = 0;  // bytes of this rank's operands; 0: none
};

class Collecting : public Pattern {
 public:
  static Needs needs(const Collective& one, const Setting& s) {
    const Extent extent(one, s);
    Needs needs = sample_needs(s);
    needs.work.bytes_sent = extent.sends;
    needs.work.messages = 1;
    needs.items_to_check = extent.receives > 0 ? extent.targets.room() : 0;
    if (one.is_barrier()) needs.items_to_check = 1;
    needs.memory = (extent.sends > 0 ? 2 * extent.sources.room() : 0) + 3 * needs.items_to_check;
    return needs;
  }

  Collecting(Collective one, Mode mode, const Setting& setting)
      : one_(std::move(one)),
        mode_(mode),
        s_(with_graph(setting)),
        extent_(one_, s_),
        copies_(mode == Mode::persistent || s_.wishes->in_place),
        source_(extent_.sends > 0 ? extent_.sources.room() : 1, s_.wishes->from),
        target_(extent_.receives > 0 ? extent_.targets.room() : 1, s_.wishes->from),
        image_(extent_.receives > 0 ? extent_.targets.room() : 0) {
    contents_ = {s_.wishes->type, one_.reduces() ? s_.wishes->operation : nullptr, s_.ranks, s_.seed, 0};
    image_.padded = one_.reduces() && s_.wishes->type->name == "mpi_long_double";
    if (s_.wishes->in_place && one_.own == Own::unsupported)
      throw Unsupported(fmt::format("MPI has no MPI_IN_PLACE in {}", one_.name));
    if (s_.wishes->nccl != nullptr) check_nccl_has(mode);
    if (mode == Mode::persistent && s_.wishes->on_devices())
      throw Unsupported("libplumb-mpi-device takes no persistent collectives: MPI itself reads their operands");
    if (copies_) {
      const std::size_t longest = std::max<std::size_t>(extent_.targets.length, 1);
      fixed_source_ = Area(longest, s_.wishes->from);
      fixed_target_ = Area(longest, s_.wishes->from);
    }
    if (mode == Mode::persistent) {
      requests_.assign(extent_.shapes.size(), MPI_REQUEST_NULL);
      for (std::size_t i = 0; i < requests_.size(); ++i)
        check_mpi(one_.functions.init(extent_.shapes[i], {fixed_source_.at(0), fixed_target_.at(0)}, &requests_[i]),
                  "make a persistent request");
    }
    if (mode == Mode::overlapped) computing_.measure();
    if (mode == Mode::overlapped && s_.wishes->computes != nullptr)
      device_.emplace(*s_.wishes->computes, s_.wishes->array);
  }

  ~Collecting() override {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
    if (graph_ != MPI_COMM_NULL) MPI_Comm_free(&graph_);
  }

  void reset(std::uint64_t repetition, std::uint64_t count) override {
    warm_up(s_, [this](Timed& none) { each(none, [this](std::uint64_t i) { alone(i); }); });
    if (mode_ == Mode::overlapped) time_alone(count);
    contents_.repetition = repetition;
    if (extent_.sends > 0) {
      const std::size_t element = one_.reduces() ? s_.wishes->type->bytes : 1;
      bytes_.resize(source_.size() / element * element);
      contents_.message(bytes_, s_.rank, 0);
      source_.write(bytes_);
    }
    if (extent_.receives == 0) return;
    image_.clear(s_.seed * 31 + repetition);
    expect(count);
    image_.poison(target_);
  }

  void run_timed(Timed& timed) override {
    if (mode_ != Mode::overlapped) return each(timed, [this](std::uint64_t i) { alone(i); });
    each(timed, [this](std::uint64_t i) { overlap(i); });
    const double count = static_cast<double>(timed.count());
    for (const auto& [name, seconds] :
         std::initializer_list<std::pair<const char*, double>>{{"init_s", begin_s_ / count},
                                                               {"test_s", test_s_ / count},
                                                               {"wait_s", wait_s_ / count},
                                                               {"compute_s", compute_s_ / count},
                                                               {"alone_s", alone_s_}})
      timed.tally(name, seconds);
  }

  Validation validate(std::uint64_t, std::uint64_t) override {
    check_mpi(code_, one_.name);
    if (one_.is_barrier()) return validate_barrier();
    for (const Area* area : {&source_, &target_}) area->check_touches();
    if (extent_.receives == 0) return {};
    return image_.compare(target_, "what follows from all ranks' sent bytes, byte by byte");
  }

 private:
  Setting with_graph(Setting setting) {
    if (!one_.is_among_neighbours()) return setting;
    const std::vector<int> around = neighbours_of(setting, setting.rank);
    const int edges = static_cast<int>(around.size());
    check_mpi(MPI_Dist_graph_create_adjacent(setting.comm, edges, around.data(), MPI_UNWEIGHTED, edges, around.data(),
                                             MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph_),
              "make a graph of neighbours");
    MPI_Comm_set_errhandler(graph_, MPI_ERRORS_RETURN);
    setting.comm = graph_;
    return setting;
  }

  // Bytes that operation i wrote here and the next one to write here does not overwrite.
  void expect(std::uint64_t count) {
    std::vector<std::uint64_t> next(extent_.targets.turns, count);  // in each region; count: none
    for (std::uint64_t operation = count; operation-- > 0;) {
      const Pieces pieces = pieces_of(one_.gets, extent_.shape(operation));
      if (pieces.empty()) continue;
      std::uint64_t& later = next[operation % next.size()];
      const std::size_t left =
          later == count ? extent_.targets.length : (later - operation) / next.size() * extent_.targets.stride;
      later = operation;
      for (const Piece& piece : pieces) {
        if (piece.target >= left) continue;
        const std::size_t length = std::min(piece.length, left - piece.target);
        const std::size_t target = extent_.targets.at(operation) + piece.target;
        const std::size_t source = extent_.sources.at(operation) + piece.source;
        if (piece.from == all_ranks)
          contents_.reduced(image_.expect(target, length), source);
        else
          image_.expect_message(contents_, piece.from, source, target, length, s_.wishes->layout.get());
      }
    }
  }

  template <class One>
  void each(Timed& timed, One one) {
    begin_s_ = test_s_ = wait_s_ = compute_s_ = 0;
    for (std::uint64_t i = 0; i < timed.count(); ++i) {
      if (copies_) {
        const Timed::Pause pause(timed);
        bring(i);
      }
      touch_buffers(s_, timed, {copies_ ? &fixed_source_ : &source_, copies_ ? &fixed_target_ : &target_});
      one(i);
      if (s_.wishes->times_each) timed.lap();
      if (copies_) {
        const Timed::Pause pause(timed);
        if (extent_.receives > 0) copy(target_.at(extent_.targets.at(i)), fixed_target_.at(0), written(i));
      }
      sync_next(s_, timed);
    }
  }
  std::size_t written(std::uint64_t i) const {
    std::size_t end = 0;
    for (const Piece& piece : pieces_of(one_.gets, extent_.shape(i))) end = std::max(end, piece.target + piece.length);
    return end;
  }
  // The data of operation i, copied to the one place from which all send; in place: to the result's.
  void bring(std::uint64_t i) {
    const Shape& shape = extent_.shape(i);
    if (s_.wishes->layout && extent_.receives > 0)  // what holes contain
      copy(fixed_target_.at(0), target_.at(extent_.targets.at(i)), written(i));
    const std::size_t length = bytes_of(one_.gives, shape);
    if (length == 0) return;
    const std::byte* from = source_.at(extent_.sources.at(i));
    copy(fixed_source_.at(0), from, length);
    const Pieces pieces = pieces_of(one_.gets, shape);
    if (!shape.in_place || pieces.empty()) return;
    if (one_.gives == Gives::blocks_of_root)  // a scatter's root keeps its own block
      copy_message(fixed_target_.at(0), from + pieces[0].source, pieces[0].length);
    else
      copy_message(fixed_target_.at(one_.own == Own::at_its_block ? shape.rank * shape.block : 0), from, length);
  }
  void copy(std::byte* to, const std::byte* from, std::size_t length) const {
    copy_bytes(to, from, length, source_.on_device());
  }
  void copy_message(std::byte* to, const std::byte* from, std::size_t length) const {
    const Layout* layout = s_.wishes->layout.get();
    if (layout == nullptr || one_.reduces()) return copy(to, from, length);
    for (std::size_t begin = 0; begin < length; begin += layout->period)
      for (const Layout::Run& run : layout->runs) copy(to + begin + run.begin, from + begin + run.begin, run.length);
  }

  Operands operands(std::uint64_t i) const {
    if (copies_) return {fixed_source_.at(0), fixed_target_.at(0)};
    return {extent_.sends > 0 ? source_.at(extent_.sources.at(i)) : nullptr,
            extent_.receives > 0 ? target_.at(extent_.targets.at(i)) : nullptr};
  }

  void alone(std::uint64_t i) {
    const Shape& shape = extent_.shape(i);
    if (s_.wishes->nccl != nullptr) {
      run_by_nccl(shape, operands(i));
    } else if (mode_ == Mode::blocking) {
      code_ |= one_.functions.blocking(shape, operands(i));
    } else if (mode_ == Mode::persistent) {
      MPI_Request& request = requests_[i % requests_.size()];
      code_ |= MPI_Start(&request);
      code_ |= MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      code_ |= one_.functions.begin(shape, operands(i), &request);
      code_ |= MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }

  void check_nccl_has(Mode mode) const {
    const Type& type = *s_.wishes->type;
    if (mode != Mode::blocking || !NcclCollectives::has(one_.name))
      throw Unsupported(fmt::format("NCCL has no {}{}", mode == Mode::blocking ? "" : "such form of ", one_.name));
    if (s_.wishes->in_place || s_.wishes->layout) throw Unsupported("NCCL is called with whole operands, out of place");
    if (one_.reduces() && (!nccl_type() || !NcclCollectives::operation(s_.wishes->operation->name)))
      throw Unsupported(fmt::format("NCCL has no {} of {}", s_.wishes->operation->name, type.name));
  }
  std::optional<int> nccl_type() const {
    const Type& type = *s_.wishes->type;
    const bool known = type.is_whole() || type.kind == Type::Kind::real;
    return known ? NcclCollectives::type(!type.is_whole(), type.kind == Type::Kind::integer, type.bytes) : std::nullopt;
  }
  // What is not computed with goes as bytes.
  void run_by_nccl(const Shape& shape, const Operands& o) const {
    NcclCollectives::Call call{o.send, o.receive, shape.block, *NcclCollectives::type(false, false, 1), 0, shape.root};
    if (one_.reduces()) {
      const bool scatters = one_.gets == Gets::reduced_block;
      call.count = static_cast<std::size_t>(scatters ? shape.count / shape.ranks : shape.count);
      call.type = *nccl_type();
      call.operation = *NcclCollectives::operation(s_.wishes->operation->name);
    }
    s_.wishes->nccl->run(one_.name, call);
  }

  // Computing as long as the collective alone, with the given number of calls of MPI_Test.
  void overlap(std::uint64_t i) {
    MPI_Request request = MPI_REQUEST_NULL;
    const double begun = now_seconds();
    code_ |= one_.functions.begin(extent_.shape(i), operands(i), &request);
    const double computing = now_seconds();
    const std::uint64_t parts = s_.wishes->tests + 1;
    double testing = 0;
    if (device_) device_->start(alone_s_);
    for (std::uint64_t part = 0; part < parts; ++part) {
      if (s_.wishes->host_computes) computing_.compute(computing_.turns / parts);
      if (part + 1 == parts) break;
      const double looking = now_seconds();
      int done = 0;
      code_ |= MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      testing += now_seconds() - looking;
    }
    if (device_) device_->finish();
    const double waiting = now_seconds();
    code_ |= MPI_Wait(&request, MPI_STATUS_IGNORE);
    begin_s_ += computing - begun;
    compute_s_ += waiting - computing - testing;
    test_s_ += testing;
    wait_s_ += now_seconds() - waiting;
  }

  void time_alone(std::uint64_t count) {
    const std::uint64_t some = std::min<std::uint64_t>(count, s_.most());
    MPI_Barrier(s_.comm);
    const double begin = now_seconds();
    for (std::uint64_t i = 0; i < some; ++i) {
      if (copies_) bring(i);
      alone(i);
    }
    alone_s_ = (now_seconds() - begin) / static_cast<double>(some);
    computing_.turns = static_cast<std::uint64_t>(alone_s_ / computing_.seconds_per_turn);
    MPI_Barrier(s_.comm);
  }

  // Each rank in turn arrives late: it sends to all others before it enters, by MPI_Ssend, which returns when their
  // receives have begun. So those must be complete when they leave, whatever their clocks and hosts.
  Validation validate_barrier() {
    Validation found;
    found.reference = "messages that the last rank sent before it came";
    found.items_checked = 1;
    for (int last = 0; last < s_.ranks; ++last) {
      if (s_.rank == last) {
        arrive_late();
        continue;
      }
      int word = 0, is_here = 0;
      MPI_Request message = MPI_REQUEST_NULL;
      code_ |= MPI_Irecv(&word, 1, MPI_INT, last, barrier_tag, s_.comm, &message);
      code_ |= MPI_Send(&word, 0, MPI_INT, last, barrier_tag, s_.comm);
      alone(0);
      code_ |= MPI_Test(&message, &is_here, MPI_STATUS_IGNORE);
      code_ |= MPI_Wait(&message, MPI_STATUS_IGNORE);
      if ((is_here != 0 && word == 1 + last) || found.wrong_items++ > 0) continue;
      found.detail = fmt::format("left the barrier before rank {} came", last);
    }
    found.error = static_cast<double>(found.wrong_items);
    return found;
  }
  // After all others, which say that they come.
  void arrive_late() {
    constexpr double late = 500e-6;
    int word = 1 + s_.rank;
    for (int others = 1; others < s_.ranks; ++others)
      code_ |= MPI_Recv(nullptr, 0, MPI_INT, MPI_ANY_SOURCE, barrier_tag, s_.comm, MPI_STATUS_IGNORE);
    const double begin = now_seconds();
    while (now_seconds() < begin + late) {
    }
    for (int rank = 0; rank < s_.ranks; ++rank)
      if (rank != s_.rank) code_ |= MPI_Ssend(&word, 1, MPI_INT, rank, barrier_tag, s_.comm);
    alone(0);
  }

  Collective one_;
  Mode mode_;
  MPI_Comm graph_ = MPI_COMM_NULL;
  Setting s_;
  Extent extent_;
  bool copies_;  // operands have one place, to and from which each operation's data is copied
  Area source_, target_, fixed_source_, fixed_target_;
  Image image_;
  Contents contents_;
  std::vector<std::byte> bytes_;
  std::vector<MPI_Request> requests_;
  Computing computing_;
  std::optional<DeviceComputing> device_;
  double alone_s_ = 0, begin_s_ = 0, test_s_ = 0, wait_s_ = 0, compute_s_ = 0;
  int code_ = MPI_SUCCESS;
};

// Bytes that busbw counts per byte of the size, for n ranks: of blocks to each of them.
double bus_factor(Bus bus, int ranks) {
  const double others = (ranks - 1.0) / ranks;
  return bus == Bus::none ? 0 : bus == Bus::once ? 1 : bus == Bus::all_but_own ? others : 2 * others;
}

// A known defect of this library's persistent collectives, or "".
std::string persistent_fault() {
  const std::string library = mpi_info().library;
  return library.starts_with("MPICH 4.0")
             ? library + " leaves out parts of persistent collectives, or copies them too early"
             : "";
}

Titled collective_row(const Collective& one, Mode mode) {
  const std::string name = mode == Mode::overlapped   ? "osu_i" + std::string(one.name)
                           : mode == Mode::persistent ? fmt::format("osu_{}_persistent", one.name)
                                                      : "osu_" + std::string(one.name);
  const char* form = mode == Mode::overlapped ? "Non-blocking " : "";
  const char* end = mode == Mode::persistent ? " Persistent" : "";
  Row row{name, mode == Mode::overlapped ? "overlap" : "collective", "osu", one.is_barrier() ? 0 : std::size_t{1}};
  row.needs = [one](const Setting& s) { return Collecting::needs(one, s); };
  row.make = [one, mode](const Setting& s) { return std::make_unique<Collecting>(one, mode, s); };
  if (mode == Mode::persistent && !one.functions.init)
    row.missing = "this MPI library has no persistent collectives (MPI 4)";
  if (mode == Mode::persistent) row.fault = persistent_fault();
  Titled titled{fmt::format("OSU MPI% {}{}{} Latency Test", form, one.title, end), row.kind, row};
  titled.reduces = one.reduces();
  titled.portions = one.gets == Gets::reduced_share || one.gets == Gets::reduced_block;
  titled.rooted = one.takes_root();
  titled.neighbours = one.is_among_neighbours();
  titled.bus = [bus = one.bus](int ranks) { return bus_factor(bus, ranks); };
  titled.blocks = !one.reduces() && one.gets != Gets::whole_of_root;
  return titled;
}

}  // namespace

std::vector<Titled> collective_rows() {
  std::vector<Titled> rows;
  for (const Mode mode : {Mode::blocking, Mode::overlapped, Mode::persistent})
    for (const Collective& one : collectives())
      if (mode != Mode::persistent || (!one.is_among_neighbours() && one.gets != Gets::reduced_block))
        rows.push_back(collective_row(one, mode));
  return rows;
}

}  // namespace plumb::osu
