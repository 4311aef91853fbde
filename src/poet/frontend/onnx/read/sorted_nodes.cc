#include "poet/frontend/onnx/read/sorted_nodes.h"

#include <algorithm>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

namespace poet::onnx {
namespace {

std::vector<std::string> sorted_reads(::onnx::GraphProto& graph);

/// Returns what the node and its subgraphs read, which it sorts.
std::vector<std::string> reads_of(::onnx::NodeProto& node) {
  std::vector<std::string> reads(node.input().begin(), node.input().end());
  for (::onnx::AttributeProto& attribute : *node.mutable_attribute()) {
    if (!attribute.has_g()) continue;
    const std::vector<std::string> inner = sorted_reads(*attribute.mutable_g());
    reads.insert(reads.end(), inner.begin(), inner.end());
  }
  return reads;
}

/// Sorts a graph, and the graphs in it once each, and returns what they read.
std::vector<std::string> sorted_reads(::onnx::GraphProto& graph) {
  const auto count = static_cast<std::size_t>(graph.node_size());
  std::unordered_map<std::string, std::size_t> writers;
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::string& output : graph.node(static_cast<int>(i)).output())
      if (!output.empty()) writers.emplace(output, i);
  }
  std::vector<std::size_t> waits(count, 0);
  std::vector<std::vector<std::size_t>> followers(count);
  bool sorted = true;
  std::vector<std::string> all;
  for (const ::onnx::ValueInfoProto& output : graph.output()) all.push_back(output.name());
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<std::string> reads = reads_of(*graph.mutable_node(static_cast<int>(i)));
    all.insert(all.end(), reads.begin(), reads.end());
    for (const std::string& name : reads) {
      const auto writer = writers.find(name);
      if (writer == writers.end() || writer->second == i) continue;
      sorted = sorted && writer->second < i;
      followers[writer->second].push_back(i);
      ++waits[i];
    }
  }
  if (sorted) return all;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i)
    if (waits[i] == 0) ready.push(i);
  std::vector<std::size_t> place(count, count);
  std::size_t placed = 0;
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    place[i] = placed++;
    for (const std::size_t follower : followers[i])
      if (--waits[follower] == 0) ready.push(follower);
  }
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return place[a] < place[b]; });
  google::protobuf::RepeatedPtrField<::onnx::NodeProto> nodes;
  for (const std::size_t i : order) nodes.Add()->Swap(graph.mutable_node(static_cast<int>(i)));
  graph.mutable_node()->Swap(&nodes);
  return all;
}

}  // namespace

void sort_nodes(::onnx::GraphProto& graph) { (void)sorted_reads(graph); }

}  // namespace poet::onnx
