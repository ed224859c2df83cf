//! A ring buffer and a pool of them.
const std = @import("std");
const Allocator = std.mem.Allocator;
const pool = @import("pool.zig");
const log = std.log.scoped(.ring);
pub usingnamespace @import("compat.zig");

/// The most entries one buffer may hold.
pub const max_entries: usize = 4096;
var opened: u32 = 0;

/// What can go wrong.
pub const RingError = error{ Full, Empty };

pub const Mode = enum(u8) {
    drop_oldest,
    reject,

    /// A text for people.
    pub fn label(self: Mode) []const u8 {
        return switch (self) {
            .drop_oldest => "drop",
            .reject => "reject",
        };
    }
};

const Value = union(enum) {
    int: i64,
    text: []const u8,
};

/// A ring of values of one type.
pub fn Ring(comptime T: type) type {
    return struct {
        const Self = @This();

        items: []T,
        head: usize = 0,
        allocator: Allocator,

        /// Makes a ring.
        pub fn init(allocator: Allocator, size: usize) !Self {
            std.debug.assert(size <= max_entries);
            return Self{ .items = try allocator.alloc(T, size), .allocator = allocator };
        }

        pub fn deinit(self: *Self) void {
            self.allocator.free(self.items);
        }

        // Takes the next place.
        fn advance(self: *Self) void {
            self.head = wrap(self.head + 1, self.items.len);
        }

        pub fn push(self: *Self, value: T) RingError!void {
            if (self.items.len == 0) return RingError.Full;
            self.items[self.head] = value;
            self.advance();
        }
    };
}

pub const Stats = struct {
    pushed: u64 = 0,
    mode: Mode = .reject,

    pub const zero = Stats{};

    pub fn add(self: *Stats, other: Stats) void {
        self.pushed += other.pushed;
    }

    const Window = packed struct {
        from: u32,
        to: u32,
    };
};

const Handle = opaque {};

fn wrap(index: usize, len: usize) usize {
    return @mod(index, len);
}

export fn ring_version() callconv(.C) u32 {
    return 3;
}

extern "c" fn usleep(usec: c_uint) c_int;

pub fn main() !void {
    var gpa = std.heap.GeneralPurposeAllocator(.{}){};
    const IntRing = Ring(i64);
    var ring = try IntRing.init(gpa.allocator(), 8);
    defer ring.deinit();
    try ring.push(42);
    pool.register(&ring);
    log.info("ready {s}", .{Mode.reject.label()});
}

test "a ring wraps around" {
    try std.testing.expectEqual(@as(usize, 0), wrap(8, 8));
}

test advance {
    _ = wrap(1, 2);
}
