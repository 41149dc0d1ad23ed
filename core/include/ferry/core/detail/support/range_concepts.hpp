// The concepts and access functions of std::ranges, without its views: <ranges> alone costs a tenth of a second of compile
// time. <span> needs them for its constructors, and both libstdc++ and libc++ define them where it includes them from.
#pragma once
#include <span>
