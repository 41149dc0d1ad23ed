#include "migration/array_record.hpp"

namespace ferry::inline FERRY_ABI::detail {

void array_record::stop_arrival() {
  arriving->stop();
  const std::vector<page_move>& pieces = arriving->pieces();
  for (std::size_t i = arriving->sent(); i < pieces.size(); ++i)
    pages.each({pieces[i].begin, pieces[i].begin + pieces[i].bytes}, [](page_run& g) { g.where = unknown_location; });
  arriving.reset();
}

}  // namespace ferry::inline FERRY_ABI::detail
