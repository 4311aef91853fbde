#include "poet/baselines/access_log.h"

#include <algorithm>

#include "poet/plan/overwritable.h"

namespace poet {

AccessLog access_log(const MethodRequest& request, const Dataflow& flow) {
  const CostTable& costs = request.instance.costs;
  const std::size_t ops = request.instance.graph.ops.size();
  AccessLog log;
  log.begin = IdVector<OpId, double>(ops);
  log.end = IdVector<OpId, double>(ops);
  log.ram = IdVector<OpId, Bytes>(ops);
  log.accesses = IdVector<ValueId, std::vector<OpId>>(request.instance.graph.values.size());
  const IdVector<OpId, std::vector<ValueId>> overwritable = overwritable_operands(request.instance);
  double now = 0;
  Bytes ram{};
  for (const OpId op : ids<OpId>(ops)) {
    log.begin[op] = now;
    log.end[op] = now += costs.ops[op].runtime.value();
    for (const ValueId v : flow.writes[op]) {
      ram += costs.values[v].bytes;
      log.accesses[v].push_back(op);
    }
    log.ram[op] = ram;
    if (request.semantics == Semantics::device) {
      log.ram[op] += costs.ops[op].workspace;
      const auto dies = [&](ValueId v) { return flow.users[v].back() == op; };
      const std::vector<ValueId>& operands = overwritable[op];
      const auto overwritten = std::find_if(operands.begin(), operands.end(), dies);
      if (overwritten != operands.end()) log.ram[op] -= costs.values[*overwritten].bytes;
    }
    log.peak = std::max(log.peak, log.ram[op]);
    for (const ValueId v : flow.reads[op]) {
      log.accesses[v].push_back(op);
      if (flow.users[v].back() == op) ram -= costs.values[v].bytes;
    }
    for (const ValueId v : flow.writes[op])
      if (flow.users[v].empty()) ram -= costs.values[v].bytes;
  }
  return log;
}

}  // namespace poet
