// Package arch checks that the code keeps the shape it was designed in: who may import whom, what the module files may
// say, and the hard limits of the source. Its test runs over this repository; testdata holds small workspaces that each
// break a rule on purpose and name the findings that must come back.
package arch
