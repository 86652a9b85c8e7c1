#include "record/collector/shared_channel.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace linebounce::record {
namespace {

constexpr std::size_t kPage = 4096;

constexpr std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

}  // namespace

SharedChannel::SharedChannel(std::uint32_t ring_words) {
  const std::size_t first_ring = whole_pages(sizeof(Channel));
  const std::size_t ring_bytes = whole_pages(sizeof(Ring) + ring_words * sizeof(std::uint64_t));
  bytes_ = first_ring + kChannelRings * ring_bytes;  // most rings are never used: a page takes memory only once it is accessed
  file_ = ::memfd_create("linebounce-record", MFD_CLOEXEC);
  void* memory = MAP_FAILED;
  if (file_ >= 0 && ::ftruncate(file_, static_cast<off_t>(bytes_)) == 0) {
    memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  }
  if (memory == MAP_FAILED) throw RecordError(fmt::format("cannot make the memory for events: {}", std::strerror(errno)));
  channel_ = static_cast<Channel*>(memory);
  channel_->version = kChannelVersion;
  channel_->ring_words = ring_words;
  channel_->ring_bytes = ring_bytes;
  channel_->first_ring = first_ring;
  channel_->collector = static_cast<std::uint32_t>(::getpid());
  channel_->magic = CHANNEL_MAGIC;
}

SharedChannel::~SharedChannel() {
  if (channel_ != nullptr) ::munmap(channel_, bytes_);
  if (file_ >= 0) ::close(file_);
}

std::string SharedChannel::path() const {
  return fmt::format("/proc/{}/fd/{}", ::getpid(), file_);
}

pid_t SharedChannel::program() const {
  return static_cast<pid_t>(__atomic_load_n(&channel_->program, __ATOMIC_ACQUIRE));
}

void SharedChannel::let_program_go_on() {
  __atomic_store_n(&channel_->ready, 1, __ATOMIC_RELEASE);
}

}  // namespace linebounce::record
