// Messages and file descriptors between two processes, over a Unix socket.
#pragma once
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

// The other process has exited.
struct peer_died : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class channel {
 public:
  explicit channel(int socket) : socket_(socket) {}
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  ~channel() { ::close(socket_); }

  template <class T>
  void send(const T& message) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (::send(socket_, &message, sizeof message, MSG_NOSIGNAL) != sizeof message) lost("sending to");
  }
  // Blocks; throws peer_died if the other process has exited.
  template <class T>
  T receive() {
    static_assert(std::is_trivially_copyable_v<T>);
    T message;
    if (::recv(socket_, &message, sizeof message, MSG_WAITALL) != sizeof message) lost("waiting for");
    return message;
  }

  void send_descriptor(int fd) {
    parts p;
    auto* const c = CMSG_FIRSTHDR(&p.header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
    if (::sendmsg(socket_, &p.header, MSG_NOSIGNAL) != 1) lost("sending to");
  }
  int receive_descriptor() {
    parts p;
    if (::recvmsg(socket_, &p.header, 0) != 1) lost("waiting for");
    int fd = -1;
    if (auto* const c = CMSG_FIRSTHDR(&p.header)) std::memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
  }

 private:
  struct parts {  // of a message with one byte and one descriptor
    char byte = 'd';
    iovec data{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header{nullptr, 0, &data, 1, control, sizeof control, 0};
  };
  [[noreturn]] static void lost(const std::string& what) {
    throw peer_died(what + " the other process failed: it has ended" +
                    (errno ? std::string(" (") + std::strerror(errno) + ")" : std::string()));
  }
  int socket_;
};
