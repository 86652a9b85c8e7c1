"""Writes tracks as a Perfetto trace: TrackEvent packets, which ui.perfetto.dev opens.

Perfetto counts whole nanoseconds, so times are rounded to the nearest. Adjacent spans stay adjacent, and none begin to overlap.
"""

from collections.abc import Iterable
from typing import IO

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (  # type: ignore[import-untyped]
    TracePacket,
    TrackDescriptor,
    TrackEvent,
)
from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder  # type: ignore[import-untyped]

from linebounce.trace_export.tracks import Argument, Counter, Slice, Track

_SEQUENCE = 1  # the sequence ID of all packets, because there is one writer


def write_perfetto(tracks: Iterable[Track], counters: Iterable[Counter], file: IO[bytes]) -> tuple[int, int]:
    """Writes every track with its slices, and every counter; returns the numbers of slices and samples.

    Times count from the start of the simulation.
    """
    writer = _Writer(file)
    slices = sum(writer.track(track) for track in tracks)
    return slices, sum(writer.counter(counter) for counter in counters)


class _Writer:
    def __init__(self, file: IO[bytes]) -> None:
        self._builder = StreamingTraceProtoBuilder(file)
        self._tracks = 0
        self._of_path: dict[tuple[str, ...], int] = {}
        packet = self._packet()
        packet.sequence_flags = TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
        self._builder.write_packet(packet)

    def track(self, track: Track) -> int:
        self._tracks += 1
        uuid = self._tracks
        if track.lane == 0:
            self._of_path[track.path] = uuid
        packet = self._packet()
        packet.timestamp = 0
        descriptor = packet.track_descriptor
        descriptor.uuid = uuid
        descriptor.name = track.path[-1]
        descriptor.child_ordering = TrackDescriptor.EXPLICIT
        descriptor.sibling_order_rank = uuid
        if len(track.path) > 1:
            descriptor.parent_uuid = self._of_path[track.path[:-1]]
        self._builder.write_packet(packet)
        for slice_ in track.slices:
            self._begin(uuid, slice_)
            self._end(uuid, slice_)
        return len(track.slices)

    def counter(self, counter: Counter) -> int:
        self._tracks += 1
        packet = self._packet()
        packet.timestamp = 0
        descriptor = packet.track_descriptor
        descriptor.uuid = self._tracks
        descriptor.name = counter.name
        descriptor.counter.SetInParent()
        self._builder.write_packet(packet)
        for time_ns, value in counter.samples:
            packet = self._packet()
            packet.timestamp = round(time_ns)
            packet.track_event.type = TrackEvent.TYPE_COUNTER
            packet.track_event.track_uuid = descriptor.uuid
            packet.track_event.double_counter_value = value
            self._builder.write_packet(packet)
        return len(counter.samples)

    def _packet(self) -> TracePacket:
        packet = self._builder.create_packet()
        packet.trusted_packet_sequence_id = _SEQUENCE
        return packet

    def _begin(self, uuid: int, slice_: Slice) -> None:
        packet = self._packet()
        packet.timestamp = round(slice_.begin_ns)
        event = packet.track_event
        event.type = TrackEvent.TYPE_SLICE_BEGIN
        event.track_uuid = uuid
        event.name = slice_.name
        event.categories.append(slice_.kind)
        for name, value in slice_.arguments.items():
            _annotate(event, name, value)
        self._builder.write_packet(packet)

    def _end(self, uuid: int, slice_: Slice) -> None:
        packet = self._packet()
        packet.timestamp = round(slice_.end_ns)
        packet.track_event.type = TrackEvent.TYPE_SLICE_END
        packet.track_event.track_uuid = uuid
        self._builder.write_packet(packet)


def _annotate(event: TrackEvent, name: str, value: Argument) -> None:
    annotation = event.debug_annotations.add()
    annotation.name = name
    if isinstance(value, int):
        annotation.int_value = value
    else:
        annotation.string_value = value
