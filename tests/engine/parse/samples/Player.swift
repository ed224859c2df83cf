import Foundation
import AVFoundation.AVAudioSession
@testable import MediaKit
@_exported import struct Streaming.Segment

/// How long a buffer may wait.
let defaultTimeout: TimeInterval = 30
public typealias Completion<T> = (Result<T, PlayerError>) -> Void

/// What can go wrong.
public enum PlayerError: Error, Equatable {
    case unreachable(url: URL)
    case decoding, cancelled

    /// A text for people.
    var message: String {
        switch self {
        case .unreachable(let url): return describe(url)
        default: return String(describing: self)
        }
    }
}

/// Whoever wants to know.
protocol PlayerDelegate: AnyObject, Sendable {
    associatedtype Track: Identifiable
    var isMuted: Bool { get set }
    func player(_ player: Player, didFinish track: Track)
}

/**
 Plays tracks one after the other.

 - Note: not thread safe.
 */
@MainActor
open class Player: NSObject, ObservableObject {
    static let maxQueue = 64
    @Published private(set) var queue: [Track] = []
    weak var delegate: (any PlayerDelegate)?
    private let engine: AudioEngine
    lazy var cache = SegmentCache(limit: Player.maxQueue)

    public init(engine: AudioEngine, cache: SegmentCache? = nil) {
        self.engine = engine
        super.init()
        prepare()
    }

    convenience init?(name: String) {
        guard let engine = AudioEngine.named(name) else { return nil }
        self.init(engine: engine)
    }

    deinit {
        engine.stop()
    }

    /// Starts with the first track.
    @discardableResult
    public func play<T: Playable>(_ item: T, at time: TimeInterval = 0, completion: Completion<T>? = nil) async throws -> Bool where T.Format == Pcm {
        let session: AVAudioSession = .sharedInstance()
        try session.setActive(true)
        let segment = try await loader.load(item.url, timeout: defaultTimeout)
        queue.append(contentsOf: item.tracks.map { Track(source: $0) })
        engine.start(segment)?.resume()
        return queue.isEmpty == false
    }

    // Gets everything ready.
    private func prepare() {
        NotificationCenter.default.addObserver(self, selector: #selector(stop), name: .interrupted, object: nil)
    }

    @objc class func shared() -> Player { Player(engine: .init()) }

    subscript(index: Int) -> Track {
        queue[index]
    }

    struct Position: Codable, Hashable {
        var seconds: Double
        mutating func advance(by step: Double) { seconds += step }
    }
}

// MARK: - Playback of lists

extension Player: PlaylistSource {
    /// How many there are.
    var count: Int { queue.count }

    func shuffle(using generator: inout some RandomNumberGenerator) {
        queue.shuffle(using: &generator)
    }
}

extension Array where Element == Track {
    func total() -> TimeInterval { reduce(0) { $0 + $1.duration } }
}

actor SegmentCache {
    private var segments: [URL: Segment] = [:]
    init(limit: Int) {}
    func store(_ segment: Segment, for url: URL) { segments[url] = segment }
}

@propertyWrapper
struct Clamped<Value: Comparable> {
    var wrappedValue: Value
}

func describe(_ url: URL, verbose: Bool = false) -> String {
    return url.absoluteString
}

infix operator <+>: AdditionPrecedence
func <+> (left: Track, right: Track) -> [Track] { [left, right] }
