// How fast frames reach a page: over loopback, from an exhibit that is ready in memory, to a client
// that only reads. The need is 24 frames of 100k vertices per second.
#include <benchmark/benchmark.h>

#include <stdexcept>

#include "viewer/fake_exhibit.h"
#include "viewer/raw_client.h"
#include "viewer/server.h"

namespace {

using namespace supple;
using namespace supple::test;

// Gives the same chunk for every frame, as a cache in the system's memory would.
class ReadyExhibit : public FakeExhibit {
 public:
  explicit ReadyExhibit(size_t bytes)
      : FakeExhibit(std::make_shared<FakeState>()), m_chunk(made_up_bytes(bytes, 1)) {}
  Bytes frame_chunk(int) const override { return m_chunk; }

 private:
  Bytes m_chunk;
};

// Eight frames are asked for at a time, as the page does; one iteration is one frame.
void stream(benchmark::State& state, size_t vertices) {
  std::vector<std::unique_ptr<viewer::Exhibit>> exhibits;
  exhibits.push_back(std::make_unique<ReadyExhibit>(vertices * 3 * sizeof(float)));
  const viewer::Server server(std::move(exhibits), {});
  RawSocket socket{PageAddress(server.url())};
  const std::string ask = R"({"type": "frames", "exhibit": 0, "frames": [1001]})";
  for (int i = 0; i < 8; ++i) socket.send(ask);
  SocketMessage message;
  int64_t bytes = 0;
  for (auto _ : state) {
    if (!socket.receive(message)) throw std::runtime_error("the server has stopped sending");
    socket.send(ask);
    bytes += static_cast<int64_t>(message.content.size());
  }
  state.SetBytesProcessed(bytes);
  state.counters["frames_per_second"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(stream, 100k, 100000)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
