package fault

// Code is the stable name of a failure or warning. Agents may branch on it.
type Code string

// Codes of failures. The default retry advice of each is in Retry's table.
const (
	InvalidInput               Code = "invalid_input"
	InvalidLifecycleTransition Code = "invalid_lifecycle_transition"
	InvalidTime                Code = "invalid_time"
	Unsupported                Code = "unsupported"
	NotFound                   Code = "not_found"
	LocatorNotUnique           Code = "locator_not_unique"
	ResourceLimitExceeded      Code = "resource_limit_exceeded"
	StaleReference             Code = "stale_reference"
	ReferenceNotActionable     Code = "reference_not_actionable"
	DialogOpen                 Code = "dialog_open"
	TargetHidden               Code = "target_hidden"
	PageBusy                   Code = "page_busy"
	PageUnresponsive           Code = "page_unresponsive"
	TargetFailed               Code = "target_failed"
	PageObservationFailed      Code = "page_observation_failed"
	ScreenshotFailed           Code = "screenshot_failed"
	NavigationFailed           Code = "navigation_failed"
	InteractionFailed          Code = "interaction_failed"
	EvaluationFailed           Code = "evaluation_failed"
	WaitTimedOut               Code = "wait_timed_out"
	BatchFailed                Code = "batch_failed"
	BrowserNotFound            Code = "browser_not_found"
	BrowserLaunchFailed        Code = "browser_launch_failed"
	BrowserCompatibilityFailed Code = "browser_compatibility_failed"
	ProfileInUse               Code = "profile_in_use"
	ReconnectExhausted         Code = "reconnect_exhausted"
	BrowserDisconnected        Code = "browser_disconnected"
	BrowserProcessTerminated   Code = "browser_process_terminated"
	SessionEnded               Code = "session_ended"
	CaptureFailed              Code = "capture_failed"
	PersistenceFailed          Code = "persistence_failed"
	BudgetExhausted            Code = "budget_exhausted"
	RangeNotRetained           Code = "range_not_retained"
	RangeNotCaptured           Code = "range_not_captured"
	RangeWrongTarget           Code = "range_wrong_target"
	EvidenceInvalidated        Code = "evidence_invalidated"
	RangeHasGaps               Code = "range_has_gaps"
	ArtifactGenerationFailed   Code = "artifact_generation_failed"
	EncoderUnavailable         Code = "encoder_unavailable"
	Cancelled                  Code = "cancelled"
	ShutdownIncomplete         Code = "shutdown_incomplete"
	Internal                   Code = "internal"
)

// Codes that occur only as warnings. CaptureFailed and the observation failures above occur as both.
const (
	PartiallyCaptured              Code = "partially_captured"
	PartiallyEvicted               Code = "partially_evicted"
	AffectedEdgeStart              Code = "affected_edge_start"
	AffectedEdgeEnd                Code = "affected_edge_end"
	RequestedEndNotYetElapsed      Code = "requested_end_not_yet_elapsed"
	BaselineUnavailable            Code = "baseline_unavailable"
	CompositorRendezvousUnobserved Code = "compositor_rendezvous_unobserved"
	ViewportMetadataIncomplete     Code = "viewport_metadata_incomplete"
	LayoutMetricsFallback          Code = "layout_metrics_fallback"
	ArtifactGraceOverridden        Code = "artifact_grace_overridden"
	FrameOmittedFromSnapshot       Code = "frame_omitted_from_snapshot"
	HandleNotIssued                Code = "handle_not_issued"
	ProfileSubstituted             Code = "profile_substituted"
	ClockSkewDetected              Code = "clock_skew_detected"
	PinnedExceedsShare             Code = "pinned_exceeds_share"
)

// Retry says whether the same request may be sent again.
type Retry string

// The three kinds of retry advice.
const (
	// Never: the same request cannot succeed or must not be repeated.
	Never Retry = "never"
	// Safe: nothing was dispatched; the same request may be repeated as it is.
	Safe Retry = "safe"
	// AfterRecovery: repeat only after the named recovery.
	AfterRecovery Retry = "after_recovery"
)

// defaultRetry holds the codes whose usual advice is not Never (contracts: errors and warnings).
var defaultRetry = map[Code]Retry{
	LocatorNotUnique: AfterRecovery, StaleReference: AfterRecovery, ReferenceNotActionable: AfterRecovery,
	DialogOpen: AfterRecovery, TargetHidden: AfterRecovery, PageUnresponsive: AfterRecovery,
	PageBusy: Safe, TargetFailed: Safe, PageObservationFailed: Safe, ScreenshotFailed: Safe,
	NavigationFailed: Safe, InteractionFailed: Safe, WaitTimedOut: Safe, Cancelled: Safe,
	BrowserNotFound: AfterRecovery, BrowserLaunchFailed: AfterRecovery,
	BrowserCompatibilityFailed: AfterRecovery, ProfileInUse: AfterRecovery, ReconnectExhausted: AfterRecovery,
	BrowserDisconnected: AfterRecovery, BrowserProcessTerminated: AfterRecovery, SessionEnded: AfterRecovery,
	CaptureFailed: AfterRecovery, PersistenceFailed: AfterRecovery, BudgetExhausted: AfterRecovery,
	EncoderUnavailable: AfterRecovery,
}
