// expect: deleted
// with: core
#include <ferry/core.hpp>

void call(ferry::workspace& w) {
  ferry::workspace_scope s(w);
#ifdef FERRY_WRONG
  ferry::workspace_scope t(s);
#endif
}
