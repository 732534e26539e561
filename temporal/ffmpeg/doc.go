// Package ffmpeg turns still pictures with durations into an MP4/H.264 clip by running an ffmpeg that the user
// installed.
//
// Qualify proves by a tiny encode that an executable can do it and with which encoder; a version alone proves nothing.
// Encode then feeds pictures through a pipe and checks the written file itself: exit status 0 is not believed.
//
// The clip has one H.264 track in yuv420p, no audio and its index in front. Times are exact to the microsecond: each
// picture is one sample that starts where the plan says, however uneven the durations are. Nothing is interpolated.
// The last picture is written as two samples, because versions of ffmpeg disagree about how long the last sample of a
// stream lasts: as long as it was given, a usual 1/60 s, or not at all. Qualify learns which, and the clip ends on time.
// With most versions the last picture lasts at least 1/60 s therefore.
//
// The process is started directly with a fixed list of arguments, in a process group of its own, without a shell, and
// with no environment but the one given. When the context or the clock ends it the whole group is killed and reaped, and
// no file is left behind.
package ffmpeg
