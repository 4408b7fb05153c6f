#pragma once

#include "application/ports/commands.hpp"
#include "application/toolkit/transaction.hpp"

namespace sluice {

// Appends log lines to leased jobs, numbered without gaps. Lines that were sent before are not
// stored again: lines whose own number is not above the last one seen under this lease, and a whole
// batch whose mark is that of the batch before. A stale lease is refused and changes nothing.
std::vector<Result<Appended>> append_logs(Transaction& tx, std::span<const AppendLogs> batches);

}  // namespace sluice
