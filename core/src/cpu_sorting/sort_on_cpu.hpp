// Sorting tasks on the CPU.
#pragma once
#include "ferry/core/detail/operations/sorting_task.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Runs a task over memory that the CPU may access. Throws std::bad_alloc.
void sort_on_cpu(const sorting_task& t);

// Its parts, by kind.
void sort_rows_on_cpu(const sorting_task& t);  // sort and partition
void order_rows_on_cpu(const sorting_task& t);
void find_unique_on_cpu(const sorting_task& t);
void search_on_cpu(const sorting_task& t);  // search and rank
void select_on_cpu(const sorting_task& t);

}  // namespace ferry::inline FERRY_ABI::detail
