//! The rows of the matrix: a fault, and the cases that fail under it.

use super::Sabotage;
use super::broken::Fault;
use super::hooks::*;
use super::kills::*;
use super::looks::*;
use super::observers::*;
use super::owners::*;
use super::reads::*;
use super::reporters::*;
use super::starts::*;
use super::waits::*;

fn fault<F: Fault + Default>() -> Box<dyn Fault> {
    Box::<F>::default()
}

macro_rules! rows {
    ($($clause:literal $fault:ident: $($case:ident)*;)*) => {
        /// Every way to break a clause, by clause; each clause has one.
        pub const SABOTAGES: &[Sabotage] = &[$(Sabotage {
            clause: $clause,
            name: stringify!($fault),
            fault: fault::<$fault>,
            noticed_by: &[$(stringify!($case)),*],
        }),*];
    };
}

rows! {
    "C-01" UnknownIsForeign:
        ids_never_handed_out_are_unknown ids_of_a_closed_owner_are_unknown
        unowned_jobs_can_be_hidden;
    "C-02" ForeignIsUnknown:
        jobs_of_another_session_are_foreign;
    "C-02" SiblingsAreForeign:
        every_caller_of_the_session_has_access;
    "C-03" UnownedIsClosed:
        unowned_jobs_are_open_to_every_caller unowned_jobs_can_be_protected_from_kills;
    "C-04" ListsAfterShutdown:
        every_call_after_a_shutdown_is_refused;
    "C-05" PanicsPoison:
        a_panicking_source_is_a_failed_read;
    "C-05" PanicsComplete:
        a_panic_in_done_fails_the_job;
    "C-05" PanicsOfOwnersOfHooksPoison:
        a_failed_starter_leaves_nothing a_panicking_drop_of_hooks_harms_nothing
        a_panicking_starter_harms_nothing an_ordinal_stays_a_gap_once_a_later_one_was_given
        panics_in_a_teardown_harm_nothing;
    "C-06" ProducersExcludeStarts:
        a_cancel_may_call_anything a_cancel_of_a_teardown_may_call_anything
        a_detail_may_call_anything a_done_may_call_anything a_drop_of_hooks_may_call_anything
        a_job_started_in_a_starter_is_listed_first a_source_may_call_anything
        a_starter_may_call_anything a_starter_that_starts_does_not_pass_the_limit
        an_ordinal_stays_a_gap_once_a_later_one_was_given closing_refuses_new_starts_first;
    "C-10" LabelComesFirst:
        checks_come_in_their_order;
    "C-10" UnownedCountAsUntold:
        ended_unowned_jobs_count_as_told;
    "C-11" RefusedStartersRun:
        a_controller_serves_its_scope_and_below a_full_owner_is_refused_before_an_untold_one
        a_refused_start_leaves_nothing a_replaced_instance_keeps_its_jobs
        a_root_controller_serves_everyone a_starter_that_starts_does_not_pass_the_limit
        an_owner_made_after_a_shutdown_starts_nothing every_call_after_a_shutdown_is_refused
        kind_label_and_limit_are_checked one_of_two_controllers_is_enough
        only_the_current_instance_may_start the_end_of_a_controller_stops_no_running_job
        the_limit_counts_running_and_stopping_jobs the_limit_is_each_owners_own
        too_many_untold_completions_are_refused unowned_jobs_share_one_limit;
    "C-11" StartsRunAtOnce:
        a_start_that_is_dropped_before_it_ran_starts_nothing;
    "C-12" FailedStartersLeaveRecords:
        a_failed_starter_leaves_nothing;
    "C-13" QuickJobsFailToStart:
        a_job_started_in_a_starter_is_listed_first
        a_job_that_ends_in_its_starter_starts_all_the_same
        an_ordinal_stays_a_gap_once_a_later_one_was_given;
    "C-14" LaterKindsCountFromTwo:
        ids_count_over_all_owners_of_a_kind;
    "C-14" SecondOwnersSkipAnOrdinal:
        ids_of_removed_jobs_are_not_given_out_again;
    "C-14" StartersAreToldAnotherId:
        a_failed_starter_leaves_nothing the_starter_is_told_its_id;
    "C-15" LimitIsOffByOne:
        a_full_owner_is_refused_before_an_untold_one a_hand_over_moves_the_places
        a_refused_start_leaves_nothing a_starter_that_starts_does_not_pass_the_limit
        checks_come_in_their_order the_limit_counts_running_and_stopping_jobs
        the_limit_is_each_owners_own unowned_jobs_share_one_limit;
    "C-20" ListsTell:
        a_look_tells_nobody_anything;
    "C-20" LiveJobsSayNothing:
        a_detail_may_call_anything a_live_job_shows_itself;
    "C-21" ToldEndsForget:
        a_kill_by_the_model_tells_a_killed_end a_panicking_detail_harms_nothing
        an_end_never_changes;
    "C-21" FactsAreLost:
        an_end_holds_what_the_producer_said;
    "C-22" ListsAreReversed:
        a_job_started_in_a_starter_is_listed_first
        a_list_is_in_commit_order_and_hides_other_sessions
        a_record_that_retention_took_is_no_longer_kept;
    "C-30" FinalOutputIsGivenOnce:
        a_job_without_a_source_gives_its_final_output output_that_retention_took_is_no_longer_kept;
    "C-30" LossesAreSilent:
        a_read_of_a_flooded_log_says_what_is_gone observe_says_how_much_is_gone;
    "C-30" ReadsBeginAtTheStart:
        a_dropped_read_is_read_again a_read_of_a_flooded_log_says_what_is_gone
        a_stream_job_gives_what_is_new an_early_commit_skips_nothing
        overlapping_reads_never_move_the_cursor_back the_range_can_be_committed_without_the_share;
    "C-31" ReadsUseOutputUp:
        a_dropped_read_is_read_again overlapping_reads_never_move_the_cursor_back;
    "C-32" TerminalReadsTell:
        a_committed_read_of_an_end_tells_it a_dropped_read_of_an_end_is_announced
        a_read_kept_beyond_the_lease_is_announced a_read_of_an_unowned_end_tells_it
        each_share_has_its_own_lease the_last_share_given_back_announces
        the_range_can_be_committed_without_the_share too_many_untold_completions_are_refused;
    "C-32" ReadsHoldNoShare:
        a_cancel_may_call_anything a_cancel_of_a_teardown_may_call_anything
        a_committed_read_of_an_end_tells_it a_detail_may_call_anything a_done_may_call_anything
        a_drop_of_hooks_may_call_anything a_dropped_read_of_an_end_is_announced
        a_hand_over_moves_live_jobs_and_untold_completions a_panic_in_done_fails_the_job
        a_panicking_cancel_is_a_failed_kill a_panicking_detail_harms_nothing
        a_panicking_drop_of_hooks_harms_nothing a_panicking_source_is_a_failed_read
        a_panicking_starter_harms_nothing a_read_kept_beyond_the_lease_is_announced
        a_read_of_an_unowned_end_tells_it a_record_that_retention_took_is_no_longer_kept
        a_source_may_call_anything a_starter_may_call_anything a_stream_job_gives_what_is_new
        checks_come_in_their_order each_share_has_its_own_lease
        ends_before_the_reporter_came_are_offered one_of_several_shares_is_enough_to_tell
        only_the_poll_that_returns_it_holds_it panics_in_a_teardown_harm_nothing
        the_last_share_given_back_announces the_range_can_be_committed_without_the_share
        too_many_untold_completions_are_refused;
    "C-33" FailedSourcesAreEmpty:
        a_failing_source_is_an_error_and_changes_nothing a_panicking_source_changes_nothing
        a_panicking_source_is_a_failed_read;
    "C-34" ObserversMoveTheCursor:
        a_look_tells_nobody_anything observe_pages_through_the_output;
    "C-34" ObserversSeeEverything:
        observe_pages_through_the_output observe_reads_a_final_output_from_any_offset
        observe_says_how_much_is_gone;
    "C-40" FailedKillsAreAccepted:
        a_failed_cancel_changes_nothing a_panicking_cancel_is_a_failed_kill
        a_refused_kill_names_no_cause a_second_kill_cancels_again_with_its_reason;
    "C-40" ReasonsAreLost:
        a_dropped_owner_signals_its_live_jobs a_dropped_registry_signals_its_live_jobs
        a_dropped_shutdown_goes_on a_job_that_was_stopping_is_cancelled_again
        a_kill_forwards_its_reason_and_shows_stopping a_second_kill_cancels_again_with_its_reason
        a_shutdown_tears_everything_down a_start_under_way_is_committed_cancelled
        an_owner_may_be_dropped_outside_a_runtime closes_return_together_and_again
        closing_cancels_and_shows_stopping panics_in_a_teardown_harm_nothing
        shutdowns_return_together_and_again;
    "C-40" KillsShowEarly:
        while_cancel_runs_the_job_is_as_it_was;
    "C-41" SecondKillsAreIgnored:
        a_second_kill_cancels_again_with_its_reason every_move_of_a_job_is_followed_by_an_item
        one_committed_kill_of_two_is_enough the_grace_counts_from_the_last_cancel
        unowned_jobs_are_open_to_every_caller;
    "C-41" EndedKillsAreRequested:
        a_kill_of_an_ended_job_is_already_finished;
    "C-42" EverybodyIsTheModel:
        a_kept_kill_by_a_user_holds_nobody_back a_kill_by_somebody_else_is_announced
        a_kill_under_way_yields_to_one_that_is_accepted_first
        a_refused_kill_names_no_cause a_replaced_instance_keeps_its_jobs
        the_first_accepted_kill_names_the_cause;
    "C-42" ModelKillsTellEveryEnd:
        a_job_that_does_not_stop_is_failed_after_the_grace a_kept_kill_holds_no_other_end_back
        a_kill_committed_after_the_end_tells_it a_kill_dropped_after_the_end_is_announced
        a_kill_dropped_before_the_end_is_announced a_kill_kept_beyond_the_lease_is_announced
        an_own_end_after_a_kill_is_announced the_first_accepted_kill_names_the_cause;
    "C-42" UserKillsNameEveryCause:
        a_user_kill_of_a_job_that_ends_by_itself_adds_nothing
        the_first_accepted_kill_names_the_cause;
    "C-43" KillsTell:
        a_kill_committed_after_the_end_tells_it a_kill_dropped_after_the_end_is_announced
        a_kill_dropped_before_the_end_is_announced a_kill_kept_beyond_the_lease_is_announced;
    "C-44" StoppingHasNoEnd:
        a_job_that_does_not_stop_is_failed_after_the_grace the_grace_counts_from_the_last_cancel;
    "C-44" TheStopGraceIsShort:
        a_job_that_does_not_stop_is_failed_after_the_grace a_job_that_stops_in_time_is_not_failed
        the_grace_counts_from_the_last_cancel without_a_grace_a_job_may_stop_for_ever;
    "C-50" WaitsMissTeardowns:
        a_wait_resolves_when_the_record_is_removed closing_cancels_and_shows_stopping;
    "C-50" WaitsEndAtTheStop:
        a_wait_follows_a_hand_over a_wait_outlives_the_stop_of_its_job;
    "C-51" WaitsHoldNoShare:
        a_wait_for_an_ended_job_resolves_at_once a_wait_holds_a_share_from_settlement_on
        an_undelivered_wait_gives_its_share_back the_last_share_given_back_announces;
    "C-51" DroppedWaitsTell:
        a_job_that_does_not_stop_is_failed_after_the_grace
        a_wait_dropped_after_the_end_gives_its_share_back
        a_wait_dropped_before_the_end_has_no_share a_wait_kept_beyond_the_lease_is_announced
        an_undelivered_wait_gives_its_share_back every_pending_wait_has_a_share_of_its_own
        the_last_share_given_back_announces;
    "C-60" ControllersServeEveryone:
        a_controller_serves_its_scope_and_below;
    "C-60" ControllerNamesAreFree:
        a_controller_name_is_taken_once_at_a_scope;
    "C-61" NarrowingIsIgnored:
        a_narrowed_reporter_ends_with_its_owner a_narrowed_reporter_hears_one_instance;
    "C-61" LateReportersHearNothing:
        a_failing_source_is_an_error_and_changes_nothing
        a_job_that_does_not_stop_is_failed_after_the_grace a_look_tells_nobody_anything
        a_narrowed_reporter_hears_one_instance a_panic_in_done_fails_the_job
        a_panicking_source_changes_nothing a_replaced_instance_may_hand_over_to_the_current_one
        a_wait_follows_a_hand_over after_a_shutdown_no_completion_is_offered
        an_offer_kept_beyond_the_lease_comes_again
        completions_of_a_closed_owner_are_offered_to_nobody
        ends_before_the_reporter_came_are_offered the_range_can_be_committed_without_the_share
        what_was_given_back_comes_first_again;
    "C-61" UnownedAreOffered:
        unowned_jobs_are_offered_to_nobody;
    "C-61" ReportersHearEverywhere:
        a_reporter_hears_its_scope_and_below the_innermost_reporter_is_offered_first;
    "C-62" TheLatestComesFirst:
        a_reporter_that_holds_is_not_offered_again completions_come_in_the_order_of_settlement
        what_was_given_back_comes_first_again;
    "C-63" OffersTell:
        a_completion_is_offered_to_its_owners_reporter
        a_dropped_offer_comes_again_under_its_notice_id a_kept_kill_by_a_user_holds_nobody_back
        a_kept_kill_holds_no_other_end_back a_read_of_a_live_job_holds_no_share
        a_reporter_that_holds_is_not_offered_again an_offer_kept_beyond_the_lease_comes_again
        each_share_has_its_own_lease one_of_several_reporters_holds_it
        the_innermost_reporter_is_offered_first what_was_given_back_comes_first_again;
    "C-63" OffersAreHandedOver:
        a_committed_read_of_an_end_tells_it a_narrowed_reporter_ends_with_its_owner
        one_of_several_reporters_holds_it only_the_poll_that_returns_it_holds_it
        what_was_given_back_comes_first_again;
    "C-63" ToldComesAgain:
        a_committed_completion_is_told_for_good a_dropped_offer_comes_again_under_its_notice_id
        a_hand_over_moves_live_jobs_and_untold_completions a_kill_by_somebody_else_is_announced
        a_kill_kept_beyond_the_lease_is_announced a_narrowed_reporter_hears_one_instance
        a_read_kept_beyond_the_lease_is_announced a_reporter_hears_its_scope_and_below
        a_reporter_that_holds_is_not_offered_again a_wait_kept_beyond_the_lease_is_announced
        an_offer_kept_beyond_the_lease_comes_again an_own_end_after_a_kill_is_announced
        completions_come_in_the_order_of_settlement
        completions_of_a_closed_owner_are_offered_to_nobody
        ends_before_the_reporter_came_are_offered one_of_several_shares_is_enough_to_tell
        the_first_accepted_kill_names_the_cause;
    "C-64" ChangesAreLate:
        an_observer_far_behind_hears_everything_once moves_are_coalesced_and_none_is_missed
        the_offer_is_the_last_news_of_a_settlement;
    "C-64" WaitersAreLate:
        a_failed_cancel_of_a_teardown_fails_the_job
        a_job_that_ends_inside_its_teardown_keeps_its_end a_shutdown_tears_everything_down
        a_shutdown_waits_for_a_stuck_job_no_longer_than_the_grace a_wait_follows_a_hand_over
        a_wait_resolves_when_the_record_is_removed waiters_are_released_before_changes_are_out;
    "C-65" LeasesNeverEnd:
        a_kill_kept_beyond_the_lease_is_announced a_read_kept_beyond_the_lease_is_announced
        a_wait_kept_beyond_the_lease_is_announced an_offer_kept_beyond_the_lease_comes_again
        each_share_has_its_own_lease;
    "C-66" UnownedIsNotHeardOf:
        unowned_jobs_are_heard_of_at_the_root_only;
    "C-66" ReadsAreChanges:
        looks_and_reads_of_a_live_job_change_nothing moves_are_coalesced_and_none_is_missed;
    "C-66" OnlyOneObserverHears:
        an_observer_far_behind_hears_everything_once changes_give_their_last_items_and_end
        every_observer_hears_for_itself;
    "C-66" ObserversHearEverywhere:
        an_observer_hears_its_scope_and_below unowned_jobs_are_heard_of_at_the_root_only;
    "C-66" NobodyIsFarBehind:
        an_observer_far_behind_hears_everything_once;
    "C-66" ObserversAreSoonFarBehind:
        an_observer_far_behind_hears_everything_once;
    "C-66" EveryCloseIsAChange:
        ids_of_removed_jobs_are_not_given_out_again
        the_close_of_an_owner_without_jobs_is_no_change;
    "C-70" ReplacedInstancesStart:
        a_refused_start_leaves_nothing a_replaced_instance_keeps_its_jobs
        only_the_current_instance_may_start;
    "C-71" TeardownsHaveNoReason:
        a_dropped_owner_signals_its_live_jobs a_job_that_was_stopping_is_cancelled_again
        a_start_under_way_is_committed_cancelled an_owner_may_be_dropped_outside_a_runtime
        closes_return_together_and_again closing_cancels_and_shows_stopping
        panics_in_a_teardown_harm_nothing;
    "C-71" TeardownsAlwaysKill:
        a_job_that_ends_inside_its_teardown_keeps_its_end closing_cancels_and_shows_stopping;
    "C-72" ClosesDoNotWait:
        a_close_waits_for_all_and_removes_all a_dropped_close_goes_on
        a_job_that_was_stopping_is_cancelled_again a_record_that_retention_took_is_no_longer_kept
        a_refused_hand_over_moves_nothing a_start_under_way_is_committed_cancelled
        a_starter_that_fails_does_not_hang_the_close
        a_stuck_job_is_failed_after_the_teardown_grace a_teardown_shows_stopping
        a_wait_resolves_when_the_record_is_removed checks_come_in_their_order
        closes_return_together_and_again closing_cancels_and_shows_stopping
        closing_refuses_new_starts_first completions_of_a_closed_owner_are_offered_to_nobody
        ids_of_a_closed_owner_are_unknown only_the_current_instance_may_start
        panics_in_a_teardown_harm_nothing the_close_of_a_replaced_instance_is_its_own;
    "C-72" FailedCancelsAreAccepted:
        a_failed_cancel_changes_nothing a_failed_cancel_of_a_teardown_fails_the_job
        a_panicking_cancel_is_a_failed_kill a_refused_kill_names_no_cause
        a_second_kill_cancels_again_with_its_reason
        a_shutdown_waits_for_a_stuck_job_no_longer_than_the_grace;
    "C-73" DropsDoNothing:
        a_dropped_owner_cannot_hang_its_jobs a_dropped_owner_signals_its_live_jobs
        a_dropped_owner_without_live_jobs_is_gone_at_once
        an_owner_may_be_dropped_outside_a_runtime;
    "C-73" RegistriesNeverDrop:
        a_dropped_registry_signals_its_live_jobs;
    "C-74" HandOversMoveNothing:
        a_full_owner_is_refused_before_an_untold_one
        a_hand_over_moves_live_jobs_and_untold_completions a_hand_over_moves_the_places
        a_refused_hand_over_moves_nothing a_replaced_instance_may_hand_over_to_the_current_one
        a_start_under_way_is_not_handed_over a_wait_follows_a_hand_over
        every_call_after_a_shutdown_is_refused;
    "C-80" ReportersNeverEnd:
        a_narrowed_reporter_ends_with_its_owner a_pending_reporter_ends_with_the_registry
        after_a_shutdown_no_completion_is_offered calls_during_a_shutdown_are_refused;
    "C-80" LastChangesAreLost:
        changes_give_their_last_items_and_end;
    "C-80" ShutdownsDoNotWait:
        a_dropped_shutdown_goes_on a_shutdown_tears_everything_down
        a_shutdown_waits_for_a_stuck_job_no_longer_than_the_grace
        after_a_shutdown_no_completion_is_offered an_owner_made_after_a_shutdown_starts_nothing
        calls_during_a_shutdown_are_refused changes_give_their_last_items_and_end
        checks_come_in_their_order
        every_call_after_a_shutdown_is_refused shutdowns_return_together_and_again;
    "C-80" LateClosesHang:
        an_owner_can_be_closed_after_the_shutdown an_owner_made_after_a_shutdown_starts_nothing;
}
