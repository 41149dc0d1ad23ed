// Whether the process is ending. Static arrays die then, maybe after the driver: nobody asks it any more.
#pragma once

namespace ferry {

// Starts to look out for it; calling it often is fine. That the main thread exits, as is usual, shows at once if that thread
// ever called this; else it shows when exit() comes to the handler that the first call registered.
void watch_for_exit();
// Also when the main thread alone has ended, by pthread_exit. From any thread, at any time.
bool is_exiting() noexcept;

}  // namespace ferry
