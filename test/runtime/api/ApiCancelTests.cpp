//===- ApiCancelTests.cpp - Who ends a call of heddle.h, and when ---------===//
//
// Each call is made once with callbacks that count how often each of them is
// called, then once for each of these moments with one that wants the end
// there: by what it returns, or by heddle_cancel. Whatever the moment, status
// and sentence say that the call was cancelled, nothing more comes of it, and
// the next call knows nothing of it. Runs under ThreadSanitizer too.
//
//===----------------------------------------------------------------------===//

#include "ApiTest.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

using namespace heddle::test;

namespace {

/// The callbacks of heddle.h that work for a call.
enum class Moment { Next, Name, Failure, Token, Answer, Flush, Rows };

/// Whether what a callback returns may end the call.
bool mayReturn(Moment moment) {
  return moment == Moment::Token || moment == Moment::Answer ||
         moment == Moment::Flush || moment == Moment::Rows;
}

/// What happens in the callbacks of one call.
class Observer {
public:
  explicit Observer(heddle_session *session) : session(session) {}

  /// The moment from which on the call is to end.
  void end(Moment moment, int index, bool byReturn) {
    wanted = moment;
    wantedIndex = index;
    returns = byReturn;
  }
  /// A callback is called: what it returns.
  int see(Moment moment) {
    std::lock_guard<std::mutex> lock(mutex);
    int index = counts[moment]++;
    // Who wants the end is not called again.
    if (hasEnded && moment == *wanted && mayReturn(moment))
      ++late;
    if (hasEnded || !wanted || moment != *wanted || index != wantedIndex)
      return 0;
    hasEnded = true;
    if (returns)
      return -1;
    heddle_cancel(session);
    return 0;
  }

  std::map<Moment, int> counts;
  int late = 0;

private:
  heddle_session *session;
  std::mutex mutex;
  std::optional<Moment> wanted;
  int wantedIndex = 0;
  bool returns = false, hasEnded = false;
};

/// The calls that can be cancelled.
enum class Call {
  Translate,
  Score,
  TranslateStream,
  ScoreStream,
  FullLogits,
  StepLogits,
  HiddenStates
};
constexpr Call kCalls[] = {Call::Translate,       Call::Score,
                           Call::TranslateStream, Call::ScoreStream,
                           Call::FullLogits,      Call::StepLogits,
                           Call::HiddenStates};

bool isStream(Call call) {
  return call == Call::TranslateStream || call == Call::ScoreStream;
}

class ApiCancelTest : public ApiTest {
protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (IsSkipped())
      return;
    sources = toySources(5);
    inputs = inputsOf(sources);
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs[i].target_ids = sources[i].data();
      inputs[i].target_id_count = std::min<size_t>(sources[i].size(), 3);
    }
  }

  /// Makes a call, seen by `observer`.
  heddle_status make(Call call, Observer &observer) {
    heddle_status status = HEDDLE_OK;
    heddle_answers *answers = nullptr;
    heddle_session_on_token(session, onToken, &observer);
    switch (call) {
    case Call::Translate:
      status =
          heddle_translate(session, inputs.data(), inputs.size(), &answers);
      break;
    case Call::Score:
      status = heddle_score(session, inputs.data(), inputs.size(), &answers);
      break;
    case Call::TranslateStream:
    case Call::ScoreStream:
      status = stream(call, observer);
      break;
    case Call::FullLogits:
    case Call::StepLogits:
      status = heddle_logits(session, inputs.data(), inputs.size(),
                             call == Call::FullLogits ? "full" : "step", onRows,
                             &observer);
      break;
    case Call::HiddenStates:
      status = heddle_hidden_states(session, inputs.data(), inputs.size(),
                                    onRows, &observer);
      break;
    }
    bool gives = call == Call::Translate || call == Call::Score;
    EXPECT_EQ(answers != nullptr, gives && status == HEDDLE_OK);
    heddle_answers_free(answers);
    return status;
  }
  /// As above, unseen.
  heddle_status make(Call call) {
    Observer observer(session);
    return make(call, observer);
  }

  /// Makes a call that ends at each moment that it has.
  void endAtEachMoment(Call call, heddle_status otherwise) {
    Observer all(session);
    ASSERT_EQ(make(call, all), otherwise) << heddle_error();
    const std::string sentence = heddle_error();
    if (otherwise == HEDDLE_OK && call != Call::Score)
      ASSERT_FALSE(all.counts.empty());
    for (auto [moment, count] : all.counts)
      for (int index = 0; index < count; ++index)
        for (bool byReturn : {false, true}) {
          if (byReturn && !mayReturn(moment))
            continue;
          SCOPED_TRACE("call " + std::to_string(int(call)) + ", moment " +
                       std::to_string(int(moment)) + " number " +
                       std::to_string(index) +
                       (byReturn ? ", by return" : ", by heddle_cancel"));
          Observer ending(session);
          ending.end(moment, index, byReturn);
          expectCancelled(make(call, ending));
          EXPECT_EQ(ending.late, 0);
          // The next one is as the one before.
          Observer again(session);
          ASSERT_EQ(make(call, again), otherwise) << heddle_error();
          if (otherwise != HEDDLE_OK)
            EXPECT_EQ(std::string(heddle_error()), sentence);
          for (Moment whole : {Moment::Token, Moment::Answer, Moment::Rows})
            EXPECT_EQ(again.counts[whole], all.counts[whole]);
        }
  }

  static void expectCancelled(heddle_status status) {
    EXPECT_EQ(status, HEDDLE_CANCELLED);
    EXPECT_EQ(std::string(heddle_error()), "the call was cancelled");
  }

  std::vector<Ids> sources;
  std::vector<heddle_input> inputs;
  /// Where a stream fails; and whether it has nothing more, and never an end.
  size_t failsAt = SIZE_MAX;
  bool isEndless = false;

private:
  static int onToken(void *context, size_t, int32_t, const char *, size_t,
                     int) {
    return static_cast<Observer *>(context)->see(Moment::Token);
  }
  static int onRows(void *context, size_t, size_t, size_t, const float *,
                    size_t) {
    return static_cast<Observer *>(context)->see(Moment::Rows);
  }

  struct Streamed {
    ApiCancelTest &test;
    Observer &observer;
    size_t next = 0;

    int see(Moment moment) { return observer.see(moment); }
    static Streamed &of(void *context) {
      return *static_cast<Streamed *>(context);
    }
  };
  heddle_status stream(Call call, Observer &observer) {
    Streamed streamed = {*this, observer};
    heddle_source source = {};
    source.context = &streamed;
    source.next = [](void *context, int mayWait, heddle_input *input) {
      Streamed &self = Streamed::of(context);
      self.see(Moment::Next);
      if (self.next == self.test.failsAt)
        return HEDDLE_NEXT_FAILED;
      if (self.next == self.test.inputs.size())
        return self.test.isEndless ? HEDDLE_NEXT_LATER : HEDDLE_NEXT_END;
      if (!mayWait && self.next % 2 == 0)
        return HEDDLE_NEXT_LATER;
      *input = self.test.inputs[self.next++];
      return HEDDLE_NEXT_INPUT;
    };
    source.name = [](void *context, int64_t number, int, char *text,
                     size_t size) {
      Streamed::of(context).see(Moment::Name);
      snprintf(text, size, "line %d", int(number) + 1);
    };
    source.failure = [](void *context, char *text, size_t size) {
      Streamed::of(context).see(Moment::Failure);
      snprintf(text, size, "there is nothing more to read");
    };
    heddle_sink sink = {
        &streamed,
        [](void *context, const heddle_answer_text *, size_t) {
          return Streamed::of(context).see(Moment::Answer);
        },
        [](void *context) { return Streamed::of(context).see(Moment::Flush); },
        nullptr};
    return call == Call::TranslateStream
               ? heddle_translate_stream(session, &source, &sink)
               : heddle_score_stream(session, &source, &sink);
  }
};

} // namespace

TEST_F(ApiCancelTest, at_every_moment_of_every_call) {
  for (const char *batch : {"1", "16"}) {
    ASSERT_EQ(set("batch", batch), HEDDLE_OK);
    for (Call call : kCalls)
      endAtEachMoment(call, HEDDLE_OK);
  }
}

TEST_F(ApiCancelTest, of_several_workers) {
  ASSERT_EQ(set("batch", "1"), HEDDLE_OK);
  ASSERT_EQ(set("workers", "3"), HEDDLE_OK);
  for (Call call : {Call::Translate, Call::TranslateStream, Call::HiddenStates})
    for (Moment moment :
         {Moment::Token, Moment::Answer, Moment::Flush, Moment::Rows}) {
      Observer all(session);
      ASSERT_EQ(make(call, all), HEDDLE_OK);
      // A source may read less before the first is answered: not the last.
      int count = moment == Moment::Flush ? std::min(1, all.counts[moment])
                                          : all.counts[moment];
      for (int index = 0; index < count; ++index) {
        Observer ending(session);
        ending.end(moment, index, /*byReturn=*/true);
        expectCancelled(make(call, ending));
        EXPECT_EQ(ending.late, 0);
        ASSERT_EQ(make(call), HEDDLE_OK) << heddle_error();
      }
    }
}

TEST_F(ApiCancelTest, calls_that_would_have_failed) {
  // The sentence of a failure never stands beside the status of another.
  Ids bad = {1, 99};
  heddle_input good = inputs[2];
  inputs[2].ids = bad.data();
  inputs[2].id_count = bad.size();
  for (Call call : kCalls) {
    SCOPED_TRACE(int(call));
    heddle_cancel(session);
    expectCancelled(make(call));
    EXPECT_EQ(make(call), HEDDLE_FAILED);
    EXPECT_EQ(std::string(heddle_error()),
              std::string(isStream(call) ? "line 3" : "input 3") +
                  " has the id 99 but the vocabulary has 9");
    endAtEachMoment(call, HEDDLE_FAILED);
  }
  inputs[2] = good;
  // A source that cannot be read.
  failsAt = 3;
  for (Call call : {Call::TranslateStream, Call::ScoreStream})
    endAtEachMoment(call, HEDDLE_FAILED);
}

TEST_F(ApiCancelTest, between_calls) {
  for (Call call : kCalls) {
    SCOPED_TRACE(int(call));
    // However often, it is one call that ends.
    heddle_cancel(session);
    heddle_cancel(session);
    expectCancelled(make(call));
    ASSERT_EQ(make(call), HEDDLE_OK) << heddle_error();
  }
  // What runs nothing leaves the wish to the next.
  heddle_cancel(session);
  heddle_answers *answers = nullptr;
  EXPECT_EQ(heddle_translate(session, nullptr, 0, &answers), HEDDLE_OK);
  ASSERT_NE(answers, nullptr);
  EXPECT_EQ(heddle_answer_count(answers, 0), 0u);
  heddle_answers_free(answers);
  EXPECT_EQ(heddle_translate(session, inputs.data(), 1, nullptr),
            HEDDLE_MISUSED);
  auto take = [](void *, size_t, size_t, size_t, const float *, size_t) {
    return 1;
  };
  EXPECT_EQ(heddle_hidden_states(session, nullptr, 0, take, nullptr),
            HEDDLE_OK);
  EXPECT_EQ(heddle_logits(session, nullptr, 0, "full", take, nullptr),
            HEDDLE_OK);
  EXPECT_EQ(set("batch", "3"), HEDDLE_OK);
  expectCancelled(make(Call::Translate));
  // In a signal handler.
  static heddle_session *interrupted;
  interrupted = session;
  auto before = signal(SIGUSR1, [](int) { heddle_cancel(interrupted); });
  raise(SIGUSR1);
  expectCancelled(make(Call::Translate));
  signal(SIGUSR1, before);
  EXPECT_EQ(make(Call::Translate), HEDDLE_OK);
}

TEST_F(ApiCancelTest, an_interrupt_while_a_guard_stands) {
  static int seen;
  seen = 0;
  auto handler = +[](int) { ++seen; };
  auto before = signal(SIGINT, handler);
  ASSERT_EQ(heddle_guard_interrupts(session), HEDDLE_OK);
  // It cancels, and whoever had the signal sees it, too.
  raise(SIGINT);
  EXPECT_EQ(seen, 1);
  expectCancelled(make(Call::Translate));
  EXPECT_EQ(make(Call::Translate), HEDDLE_OK);
  EXPECT_EQ(heddle_guard_interrupts(session), HEDDLE_MISUSED);
  EXPECT_STREQ(heddle_error(),
               "a session has the interrupts of this process already");
  // One that comes behind the call ends no later one.
  raise(SIGINT);
  EXPECT_EQ(heddle_release_interrupts(), 1);
  EXPECT_EQ(make(Call::Translate), HEDDLE_OK);
  raise(SIGINT);
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(make(Call::Translate), HEDDLE_OK);
  EXPECT_EQ(heddle_release_interrupts(), 0);
  // Who takes the signal meanwhile keeps it; the default action is left out.
  signal(SIGINT, SIG_DFL);
  ASSERT_EQ(heddle_guard_interrupts(session), HEDDLE_OK);
  raise(SIGINT);
  expectCancelled(make(Call::Translate));
  signal(SIGINT, handler);
  EXPECT_EQ(heddle_release_interrupts(), 1);
  EXPECT_EQ(signal(SIGINT, SIG_IGN), handler);
  ASSERT_EQ(heddle_guard_interrupts(session), HEDDLE_OK);
  raise(SIGINT);
  EXPECT_EQ(make(Call::Translate), HEDDLE_OK);
  EXPECT_EQ(heddle_release_interrupts(), 0);
  EXPECT_EQ(signal(SIGINT, before), SIG_IGN);
  EXPECT_EQ(heddle_guard_interrupts(nullptr), HEDDLE_MISUSED);
}

TEST_F(ApiCancelTest, a_source_that_has_nothing_at_the_moment) {
  isEndless = true;
  for (const char *workers : {"1", "3"}) {
    ASSERT_EQ(set("workers", workers), HEDDLE_OK);
    for (Moment moment : {Moment::Next, Moment::Token, Moment::Answer}) {
      Observer ending(session);
      ending.end(moment, moment == Moment::Next ? 100 : 0, /*byReturn=*/false);
      expectCancelled(make(Call::TranslateStream, ending));
    }
  }
}

TEST_F(ApiCancelTest, by_another_thread) {
  // One wish at any time is the end of one call, this one or the next.
  for (int round = 0; round < 50; ++round) {
    Call call = kCalls[size_t(round) % std::size(kCalls)];
    std::atomic<bool> started = false;
    std::thread other([&] {
      while (!started)
        std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::microseconds(37 * round));
      heddle_cancel(session);
    });
    started = true;
    heddle_status status;
    while ((status = make(call)) == HEDDLE_OK)
      ;
    expectCancelled(status);
    other.join();
    ASSERT_EQ(make(call), HEDDLE_OK) << heddle_error();
  }
}
