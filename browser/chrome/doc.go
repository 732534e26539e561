// Package chrome finds, starts and ends Chromium-family browsers and keeps their profiles.
package chrome
