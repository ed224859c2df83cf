"use strict";

const events = require("events");
const { join, resolve: absolute } = require("path");
const Clock = require("./clock").Clock;
require("./setup");

/** How loud at first. */
const VOLUME = 5;
var started = false;

/**
 * Plays songs.
 */
class Player extends events.EventEmitter {
  static count = 0;
  queue = new Queue();
  #state = "idle";
  onEnd = () => this.next();

  constructor(device, { loop = false } = {}) {
    super();
    this.device = device;
    this.clock = new Clock();
    Player.count += 1;
  }

  get state() {
    return this.#state;
  }

  static async open(path, volume = VOLUME, ...effects) {
    const file = await load(join(path, "song.ogg"));
    return new Player(file.device, ...effects);
  }

  *songs() {
    yield this.queue.peek();
  }
}

// Old style class.
function Speaker(name) {
  this.name = name;
}

Speaker.prototype.play = function (song, volume) {
  this.device.write(decode(song), volume);
};
Speaker.create = (name) => new Speaker(name);

exports.mute = function mute(player) {
  player.volume = 0;
};

const api = {
  start(song) {
    return Speaker.create("left").play(song, VOLUME);
  },
  stop: function () {
    started = false;
  },
};

(function () {
  var hidden = 1;
  function boot() {
    api.start(hidden);
  }
  boot?.();
})();

const later = debounce(() => {
  tagged`text`;
}, 100);

module.exports = { Player, Speaker, api, clock: require("./clock") };
