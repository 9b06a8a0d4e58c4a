// Pipelines: what a source yields, one token after the other, goes through stages, several tokens at a time.
//
//   weir::parallel_pipeline(rt, [&]() -> std::optional<block> { return next_block(in); },
//                           weir::parallel_stage([](block b) { return compressed(std::move(b)); }),
//                           weir::serial_stage([&](block b) { write(out, b); }));
//
// The source is called by one thread at a time, until it returns nothing. A serial stage gets one token at a time, in
// the order of the source; a parallel stage any number at once, so that it is called through a const reference. A
// stage takes what the one before it returns, and the last one returns nothing. A pipeline returns when the source
// has come to its end and all tokens have gone through. It may be called by any thread and in tasks, also in the
// stage of another pipeline; its caller executes tasks meanwhile, as in scope::wait().
//
// Where things run. Who has taken a token from the source carries it on, stage by stage, so that it stays in the same
// caches, until a serial stage is busy with a token before it: who is there goes on with it then, or leaves it to
// whoever is idle. Nobody waits inside of a stage for another one. A source that waits for what becomes of tokens
// before does so in weir::blocking(): then others bring those tokens through in its worker's place. A stage must not
// wait for tokens that come later: where tokens are so short that several threads are slower than one, which is
// measured, they go through one after the other.
//
// Cost. Some 10 ns a token and stage; where a token goes to another thread, as much as a task, some 30 ns to 0.2 us,
// and the cache misses of what the stages keep. A stage that waits for tasks may take a thread more for each token
// that is under way, as no source is called on top of it. Memory for pipeline_options::tokens tokens, each in cache
// lines of its own, touched first by the caller, and 128 bytes a stage for every 128 of them.
//
// Errors. If the source or a stage throws, the source is called no more, tokens that are under way are dropped, and
// task_failed is thrown, as by scope::wait(), for one of those that threw; its cause() is what was thrown. The same
// if the scope of the task that calls the pipeline ends early (scope.hpp), but then it is task_cancelled that is
// thrown, if anything was left out. In a stage this_task::cancelled() says that this has happened.
#pragma once

#include <weir/detail/atomic.hpp>
#include <weir/detail/loop_work.hpp>
#include <weir/detail/pipeline_pace.hpp>
#include <weir/detail/wrong_call.hpp>
#include <weir/error.hpp>
#include <weir/runtime.hpp>
#include <weir/task.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace weir {

// One token at a time, in the order of the source.
template <class Body>
struct serial_stage {
  explicit serial_stage(Body b) : body(std::move(b)) {}
  Body body;
};

// Any number of tokens at once.
template <class Body>
struct parallel_stage {
  explicit parallel_stage(Body b) : body(std::move(b)) {}
  Body body;
};

struct pipeline_options {
  // Tokens that are under way at the same time, at most, and no more than 2^20; 0: four for each worker. More: longer
  // parallel stages are evened out, and more memory is in use. The source is not called before the last stage is done
  // with the token so many before.
  std::size_t tokens = 0;
  const char* name = nullptr;  // of its tasks; not copied. Null: "parallel_pipeline"
};

namespace detail {

// A stage may be constant, too.
template <class Stage>
inline constexpr bool is_serial = false;
template <class Body>
inline constexpr bool is_serial<serial_stage<Body>> = true;
template <class Body>
inline constexpr bool is_serial<const serial_stage<Body>> = true;
template <class Stage>
inline constexpr bool is_stage = is_serial<Stage>;
template <class Body>
inline constexpr bool is_stage<parallel_stage<Body>> = true;
template <class Body>
inline constexpr bool is_stage<const parallel_stage<Body>> = true;

// How a stage's body is called.
template <class Stage>
using stage_body = decltype((std::declval<std::conditional_t<is_serial<Stage>, Stage&, const Stage&>>().body));

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

// What a token is on its way: nothing, what the source returns, what the first stage returns, and so on.
template <class Made, class Token, class... Stages>
struct tokens_of;
template <class... Made, class Token, class Last>
struct tokens_of<std::variant<Made...>, Token, Last> {
  using type = std::variant<Made..., Token>;
};
template <class... Made, class Token, class Stage, class... Rest>
struct tokens_of<std::variant<Made...>, Token, Stage, Rest...>
    : tokens_of<std::variant<Made..., Token>,
                std::remove_cvref_t<std::invoke_result_t<stage_body<Stage>, Token>>, Rest...> {};

// At most one sentence, and then false.
template <class Token, class Stage, class... Rest>
consteval bool check_stages() {
  constexpr bool movable = std::move_constructible<Token>;
  static_assert(movable, "weir::parallel_pipeline: tokens are moved from stage to stage, and one's type cannot be");
  if constexpr (movable) {
    constexpr bool callable = std::invocable<stage_body<Stage>, Token>;
    static_assert(callable,
                  "weir::parallel_pipeline: a stage takes what the one before it returns, the first one what is in the "
                  "source's std::optional; several threads call a parallel stage, so it must be callable as const");
    if constexpr (callable) {
      using result = std::remove_cvref_t<std::invoke_result_t<stage_body<Stage>, Token>>;
      if constexpr (sizeof...(Rest) == 0) {
        static_assert(std::is_void_v<result>, "weir::parallel_pipeline: the last stage returns nothing");
        return std::is_void_v<result>;
      } else {
        static_assert(!std::is_void_v<result>, "weir::parallel_pipeline: only the last stage may return nothing");
        if constexpr (!std::is_void_v<result>) return check_stages<result, Rest...>();
      }
    }
  }
  return false;
}

template <class Source, class... Stages>
consteval bool check_pipeline() {
  constexpr bool stages = sizeof...(Stages) != 0 && (is_stage<Stages> && ...);
  static_assert(stages,
                "weir::parallel_pipeline: expected (rt, source, stages...), or options before the source; each stage "
                "is a weir::serial_stage or weir::parallel_stage, and there is one at least");
  if constexpr (stages) {
    constexpr bool callable = std::invocable<Source&>;
    static_assert(callable,
                  "weir::parallel_pipeline: the source takes no arguments; if it is a constant, it must be callable as one");
    if constexpr (callable) {
      using result = std::remove_cvref_t<std::invoke_result_t<Source&>>;
      static_assert(is_optional<result>,
                    "weir::parallel_pipeline: the source returns a std::optional, which is empty at the end");
      if constexpr (is_optional<result>) return check_stages<typename result::value_type, Stages...>();
    }
  }
  return false;
}

// Tokens go round `lines`, the n-th one in line n modulo their number, and each line through the stages, the source
// being the first. A stage of a line begins when what it waits for is over: the same line's stage before it, of the
// source the last stage of the token before it in this line; and, if it is serial, the same stage of the line before.
// After C.-H. Chiu, T.-W. Huang, Z. Guo, Y. Lin: Pipeflow: An Efficient Task-Parallel Pipeline Programming Framework
// using Modern C++, arXiv:2202.00717, 2022. src/runtime/README.md says why nothing is lost or run twice.
template <std::size_t Stages, class Token>
class pipeline_lines {
 public:
  struct next_cells {
    bool same_line, next_line;  // may begin: the next stage here; this stage of the next line
  };

  pipeline_lines(std::size_t lines, const std::array<bool, Stages>& serial)
      : tokens_(std::make_unique<slot[]>(lines)),
        blocks_of_stage_((lines + cells_in_block - 1) / cells_in_block),
        cells_(std::make_unique<block[]>(Stages * blocks_of_stage_)),
        count_(lines),
        serial_(serial) {
    // The first token's stages wait for none before it, and no line's source for a token that was there before.
    for (std::size_t l = 0; l < lines; l++)
      for (std::size_t s = 0; s < Stages; s++) {
        const int before_it = s == 0 ? 0 : 1, beside_it = l == 0 ? 0 : 1;
        waits_for(l, s).store(static_cast<std::uint8_t>(before_it + beside_it), std::memory_order_relaxed);
      }
  }

  Token& token(std::size_t l) { return tokens_[l].token; }
  std::size_t after(std::size_t l) const { return l + 1 == count_ ? 0 : l + 1; }
  static std::size_t stage_after(std::size_t s) { return s + 1 == Stages ? 0 : s + 1; }

  // By who has run it.
  next_cells has_run(std::size_t l, std::size_t s) {
    bool next_line = false;
    if (serial_[s]) {
      // For the token that comes here next. It is told to begin by who comes after this thread, so this is seen.
      waits_for(l, s).store(2, std::memory_order_relaxed);
      next_line = is_last(after(l), s);
    }
    const std::size_t next = stage_after(s);
    return {!serial_[next] || is_last(l, next), next_line};
  }

 private:
  // Those of one stage lie side by side: with what a serial stage keeps they go from one thread to the next.
  static constexpr std::size_t cells_in_block = cache_line_bytes;
  struct alignas(cache_line_bytes) block {
    std::array<atomic<std::uint8_t>, cells_in_block> waits_for;
  };
  struct alignas(cache_line_bytes) slot {
    Token token;
  };

  // Of serial stages.
  atomic<std::uint8_t>& waits_for(std::size_t l, std::size_t s) {
    return cells_[s * blocks_of_stage_ + l / cells_in_block].waits_for[l % cells_in_block];
  }
  // Of what it waits for.
  bool is_last(std::size_t l, std::size_t s) { return waits_for(l, s).fetch_sub(1, std::memory_order_acq_rel) == 1; }

  std::unique_ptr<slot[]> tokens_;
  const std::size_t blocks_of_stage_;
  std::unique_ptr<block[]> cells_;
  const std::size_t count_;
  const std::array<bool, Stages> serial_;
};

inline constexpr std::size_t most_tokens = std::size_t{1} << 20;

inline std::size_t lines_for(runtime& rt, const pipeline_options& o) {
  if (o.tokens > most_tokens)
    throw usage_error("parallel_pipeline: pipeline_options::tokens is " + std::to_string(o.tokens) +
                      "; expected at most " + std::to_string(most_tokens));
  return o.tokens != 0 ? o.tokens : 4 * static_cast<std::size_t>(rt.workers());
}

// Lives on the stack of who waits for it. `Pace`: pipeline_pace, or what stands in for it in tests.
template <class Pace, class Source, class... Stages>
class pipeline {
  static constexpr std::size_t stages = 1 + sizeof...(Stages);
  static constexpr std::array<bool, stages> serial{true, is_serial<Stages>...};
  using first_token = typename std::remove_cvref_t<std::invoke_result_t<Source&>>::value_type;
  using token = typename tokens_of<std::variant<std::monostate>, first_token, Stages...>::type;
  static constexpr auto no_line = static_cast<std::size_t>(-1);
  // Then whoever waits for this worker's place has it, and urgent tasks are run.
  static constexpr unsigned most_tokens_of_a_task = 64;

 public:
  pipeline(runtime& rt, const pipeline_options& o, Source& source, std::tuple<Stages&...> bodies)
      : options_{.name = o.name != nullptr ? o.name : "parallel_pipeline"},
        lines_(lines_for(rt, o), serial),
        source_(source),
        stages_(bodies),
        pace_(stages),
        tasks_(rt) {}

  // Throws what scope::wait() throws.
  void run() {
    tasks_.spawn(options_, carrier{this, 0, 0});
    tasks_.wait();
    if (is_left_early_.load(std::memory_order_relaxed))
      throw task_cancelled(std::string(options_.name) +
                           " was left early: the scope of the task that called it has ended early");
  }

 private:
  // A source may wait for what becomes of the token that its caller has in hand, so whoever creates one of these must
  // not run it on top of itself.
  struct carrier {
    static constexpr bool runs_apart = true;
    pipeline* of;
    std::size_t line, stage;
    void operator()() const { of->carry(line, stage); }
  };

  void carry(std::size_t l, std::size_t s) {
    try {
      std::size_t kept = no_line;
      unsigned tokens = 0;
      while (goes_on() && (s == 0 ? take(l) : process(l, s))) {
        const auto next = lines_.has_run(l, s);
        const std::size_t after = lines_.after(l), next_stage = lines_.stage_after(s);
        // Tokens come before the source, and this one before the one behind it.
        if (next.same_line && next_stage != 0) {
          if (next.next_line) leave(after, s, kept);
          s = next_stage;
        } else if (next.next_line && s != 0) {
          if (next.same_line) leave(l, 0, kept);
          if (++tokens == most_tokens_of_a_task) return create_both(kept, after, s);
          l = after;
        } else {
          if (next.next_line) kept = after;
          if (next.same_line) kept = l;
          if (kept == no_line) return;
          if (++tokens == most_tokens_of_a_task) return create(kept, 0);
          l = std::exchange(kept, no_line);
          s = 0;
        }
      }
    } catch (...) {
      is_over_.store(true, std::memory_order_relaxed);
      throw;
    }
  }

  // What may begin, too. A source is kept by who brings tokens through alone, until the one in hand goes no further;
  // there is one source, so one line at most.
  void leave(std::size_t l, std::size_t s, std::size_t& kept) {
    if (s == 0 && pace_.is_alone()) kept = l;
    else create(l, s);
  }
  // Who goes on here runs what was created last first: tokens come before the source.
  void create_both(std::size_t source, std::size_t l, std::size_t s) {
    if (source != no_line) create(source, 0);
    create(l, s);
  }
  void create(std::size_t l, std::size_t s) { tasks_.spawn(options_, carrier{this, l, s}); }

  bool goes_on() {
    if (is_over_.load(std::memory_order_relaxed)) return false;
    if (!this_task::cancelled()) return true;
    is_left_early_.store(true, std::memory_order_relaxed);
    is_over_.store(true, std::memory_order_relaxed);
    return false;
  }

  // False: there are no more.
  bool take(std::size_t l) {
    pace_.before_token(now_ns);
    auto taken = std::invoke(source_);
    if (!taken) return false;
    lines_.token(l).template emplace<1>(std::move(*taken));
    return true;
  }

  bool process(std::size_t l, std::size_t s) {
    using call = void (pipeline::*)(token&);
    static constexpr auto calls = []<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<call, stages - 1>{&pipeline::process_as<I>...};
    }(std::make_index_sequence<stages - 1>{});
    (this->*calls[s - 1])(lines_.token(l));
    return true;
  }
  template <std::size_t I>
  void process_as(token& t) {
    auto& stage = std::get<I>(stages_);
    const stage_body<std::tuple_element_t<I, std::tuple<Stages...>>> body = stage.body;
    auto& given = *std::get_if<I + 1>(&t);
    if constexpr (I + 1 == sizeof...(Stages)) {
      std::invoke(body, std::move(given));
      t.template emplace<0>();
    } else {
      // It may be a reference into what was given, which is gone before the next token is made.
      auto made = std::invoke(body, std::move(given));
      t.template emplace<I + 2>(std::move(made));
    }
  }

  const task_options options_;
  pipeline_lines<stages, token> lines_;
  Source& source_;
  const std::tuple<Stages&...> stages_;
  atomic<bool> is_over_{false}, is_left_early_{false};
  // What is above is only read, as a rule, and by all.
  alignas(cache_line_bytes) Pace pace_;
  alignas(cache_line_bytes) scope tasks_;  // last: they use the rest
};

template <class Source, class... Stages>
void run_pipeline(runtime& rt, const pipeline_options& options, Source& source, Stages&... stages) {
  if constexpr (check_pipeline<Source, Stages...>())
    pipeline<pipeline_pace, Source, Stages...>(rt, options, source, std::tie(stages...)).run();
}

}  // namespace detail

// See above. The source and the stages are not copied. Throws usage_error (too many tokens), std::bad_alloc, and what
// scope::wait() throws.
template <class Source, class... Stages>
  requires(!std::same_as<std::remove_cvref_t<Source>, pipeline_options>)
void parallel_pipeline(runtime& rt, Source&& source, Stages&&... stages) {
  detail::run_pipeline(rt, pipeline_options{}, source, stages...);
}
template <class Source, class... Stages>
void parallel_pipeline(runtime& rt, const pipeline_options& options, Source&& source, Stages&&... stages) {
  detail::run_pipeline(rt, options, source, stages...);
}

}  // namespace weir
