// What an earlier owner of bytes has told the driver about them does not hold for the next.
#pragma once

namespace ferry {

class backend;
struct allocation;

// Takes back what was advised about a block of unified memory. Pages that reach over the block lose the advice as a whole: it
// is a hint. Never blocks; does not throw when a device is broken.
void forget_advice(ferry::backend& backend, allocation& a);

}  // namespace ferry
