//! The one list of cases: the table and the tests are made of it.

/// Gives the list to the macro `then`, after what is in front of it.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_cases {
    ([$($then:tt)*] $($front:tt)*) => {
        $($then)*! {
            $($front)*
            access Paused {
                "C-01" ids_never_handed_out_are_unknown
                "C-01" ids_of_a_closed_owner_are_unknown
                "C-01" a_record_that_retention_took_is_no_longer_kept
                "C-01" output_that_retention_took_is_no_longer_kept
                "C-02" jobs_of_another_session_are_foreign
                "C-02" every_caller_of_the_session_has_access
                "C-03" unowned_jobs_are_open_to_every_caller
                "C-03" unowned_jobs_can_be_protected_from_kills
                "C-03" unowned_jobs_can_be_hidden
                "C-04" every_call_after_a_shutdown_is_refused
                "C-04" an_owner_made_after_a_shutdown_starts_nothing
                "C-04" calls_during_a_shutdown_are_refused
            }
            panics Paused {
                "C-05" a_panicking_starter_harms_nothing
                "C-05" a_panicking_cancel_is_a_failed_kill
                "C-05" a_panicking_source_is_a_failed_read
                "C-05" a_panic_in_done_fails_the_job
                "C-05" a_panicking_detail_harms_nothing
                "C-05" a_panicking_drop_of_hooks_harms_nothing
                "C-05" panics_in_a_teardown_harm_nothing
            }
            reentrancy Paused {
                "C-06" a_starter_may_call_anything
                "C-06" a_cancel_may_call_anything
                "C-06" a_source_may_call_anything
                "C-06" a_detail_may_call_anything
                "C-06" a_done_may_call_anything
                "C-06" a_drop_of_hooks_may_call_anything
                "C-06" a_cancel_of_a_teardown_may_call_anything
            }
            starting Paused {
                "C-10" checks_come_in_their_order
                "C-10" a_full_owner_is_refused_before_an_untold_one
                "C-10" kind_label_and_limit_are_checked
                "C-10" only_the_current_instance_may_start
                "C-10" too_many_untold_completions_are_refused
                "C-10" ended_unowned_jobs_count_as_told
                "C-11" a_refused_start_leaves_nothing
                "C-11" a_start_that_is_dropped_before_it_ran_starts_nothing
            }
            places Paused {
                "C-12" a_failed_starter_leaves_nothing
                "C-12" an_ordinal_stays_a_gap_once_a_later_one_was_given
                "C-13" a_job_that_ends_in_its_starter_starts_all_the_same
                "C-14" ids_count_over_all_owners_of_a_kind
                "C-14" ids_of_removed_jobs_are_not_given_out_again
                "C-14" the_starter_is_told_its_id
                "C-15" the_limit_counts_running_and_stopping_jobs
                "C-15" the_limit_is_each_owners_own
                "C-15" unowned_jobs_share_one_limit
                "C-15" a_starter_that_starts_does_not_pass_the_limit
            }
            reading Paused {
                "C-30" a_stream_job_gives_what_is_new
                "C-30" a_read_of_a_flooded_log_says_what_is_gone
                "C-30" a_job_without_a_source_gives_its_final_output
                "C-31" a_dropped_read_is_read_again
                "C-31" overlapping_reads_never_move_the_cursor_back
                "C-31" an_early_commit_skips_nothing
                "C-33" a_failing_source_is_an_error_and_changes_nothing
                "C-33" a_panicking_source_changes_nothing
                "C-34" observe_pages_through_the_output
                "C-34" observe_says_how_much_is_gone
                "C-34" observe_reads_a_final_output_from_any_offset
            }
            looking Paused {
                "C-20" a_look_tells_nobody_anything
                "C-20" a_live_job_shows_itself
                "C-21" an_end_never_changes
                "C-21" an_end_holds_what_the_producer_said
                "C-22" a_list_is_in_commit_order_and_hides_other_sessions
                "C-22" a_job_started_in_a_starter_is_listed_first
            }
            telling Paused {
                "C-32" a_committed_read_of_an_end_tells_it
                "C-32" a_dropped_read_of_an_end_is_announced
                "C-32" a_read_of_a_live_job_holds_no_share
                "C-32" the_range_can_be_committed_without_the_share
                "C-32" one_of_several_shares_is_enough_to_tell
                "C-32" the_last_share_given_back_announces
                "C-32" a_read_of_an_unowned_end_tells_it
            }
            killing Paused {
                "C-40" a_kill_forwards_its_reason_and_shows_stopping
                "C-40" while_cancel_runs_the_job_is_as_it_was
                "C-40" a_failed_cancel_changes_nothing
                "C-41" a_second_kill_cancels_again_with_its_reason
                "C-41" a_kill_of_an_ended_job_is_already_finished
                "C-43" a_kill_dropped_before_the_end_is_announced
                "C-43" a_kill_dropped_after_the_end_is_announced
                "C-43" a_kept_kill_holds_no_other_end_back
                "C-43" one_committed_kill_of_two_is_enough
            }
            causes Paused {
                "C-42" a_kill_by_the_model_tells_a_killed_end
                "C-42" a_kill_committed_after_the_end_tells_it
                "C-42" an_own_end_after_a_kill_is_announced
                "C-42" a_kill_by_somebody_else_is_announced
                "C-42" a_user_kill_of_a_job_that_ends_by_itself_adds_nothing
                "C-42" the_first_accepted_kill_names_the_cause
                "C-42" a_kill_under_way_yields_to_one_that_is_accepted_first
                "C-42" a_refused_kill_names_no_cause
                "C-42" a_kept_kill_by_a_user_holds_nobody_back
            }
            stopping Paused {
                "C-44" a_job_that_does_not_stop_is_failed_after_the_grace
                "C-44" the_grace_counts_from_the_last_cancel
                "C-44" a_job_that_stops_in_time_is_not_failed
                "C-44" without_a_grace_a_job_may_stop_for_ever
            }
            waiting Paused {
                "C-50" a_wait_for_an_ended_job_resolves_at_once
                "C-50" a_wait_outlives_the_stop_of_its_job
                "C-50" a_wait_resolves_when_the_record_is_removed
                "C-51" a_wait_holds_a_share_from_settlement_on
                "C-51" a_wait_dropped_before_the_end_has_no_share
                "C-51" a_wait_dropped_after_the_end_gives_its_share_back
                "C-51" an_undelivered_wait_gives_its_share_back
                "C-51" every_pending_wait_has_a_share_of_its_own
            }
            scopes Paused {
                "C-60" a_controller_serves_its_scope_and_below
                "C-60" a_root_controller_serves_everyone
                "C-60" the_end_of_a_controller_stops_no_running_job
                "C-60" one_of_two_controllers_is_enough
                "C-60" a_controller_name_is_taken_once_at_a_scope
            }
            completions Paused {
                "C-61" a_completion_is_offered_to_its_owners_reporter
                "C-61" ends_before_the_reporter_came_are_offered
                "C-61" unowned_jobs_are_offered_to_nobody
                "C-61" completions_of_a_closed_owner_are_offered_to_nobody
                "C-61" a_reporter_hears_its_scope_and_below
                "C-61" a_narrowed_reporter_hears_one_instance
                "C-61" a_narrowed_reporter_ends_with_its_owner
                "C-62" completions_come_in_the_order_of_settlement
                "C-62" what_was_given_back_comes_first_again
                "C-62" the_innermost_reporter_is_offered_first
            }
            offers Paused {
                "C-63" only_the_poll_that_returns_it_holds_it
                "C-63" one_of_several_reporters_holds_it
                "C-63" a_dropped_offer_comes_again_under_its_notice_id
                "C-63" a_committed_completion_is_told_for_good
                "C-63" a_reporter_that_holds_is_not_offered_again
                "C-64" the_offer_is_the_last_news_of_a_settlement
                "C-64" waiters_are_released_before_changes_are_out
            }
            leases Paused {
                "C-65" a_read_kept_beyond_the_lease_is_announced
                "C-65" a_wait_kept_beyond_the_lease_is_announced
                "C-65" an_offer_kept_beyond_the_lease_comes_again
                "C-65" a_kill_kept_beyond_the_lease_is_announced
                "C-65" each_share_has_its_own_lease
            }
            changes Paused {
                "C-66" every_move_of_a_job_is_followed_by_an_item
                "C-66" looks_and_reads_of_a_live_job_change_nothing
                "C-66" moves_are_coalesced_and_none_is_missed
                "C-66" every_observer_hears_for_itself
                "C-66" an_observer_hears_its_scope_and_below
                "C-66" unowned_jobs_are_heard_of_at_the_root_only
                "C-66" a_teardown_shows_stopping
                "C-66" the_close_of_an_owner_without_jobs_is_no_change
                "C-66" an_observer_far_behind_hears_everything_once
            }
            owners Paused {
                "C-70" a_replaced_instance_keeps_its_jobs
                "C-70" the_close_of_a_replaced_instance_is_its_own
                "C-73" a_dropped_owner_without_live_jobs_is_gone_at_once
                "C-73" a_dropped_owner_signals_its_live_jobs
                "C-73" an_owner_may_be_dropped_outside_a_runtime
                "C-73" a_dropped_owner_cannot_hang_its_jobs
                "C-73" a_dropped_registry_signals_its_live_jobs
                "C-74" a_hand_over_moves_live_jobs_and_untold_completions
                "C-74" a_hand_over_moves_the_places
                "C-74" a_wait_follows_a_hand_over
                "C-74" a_start_under_way_is_not_handed_over
                "C-74" a_replaced_instance_may_hand_over_to_the_current_one
                "C-74" a_refused_hand_over_moves_nothing
            }
            teardown Paused {
                "C-71" closing_cancels_and_shows_stopping
                "C-71" closing_refuses_new_starts_first
                "C-71" a_start_under_way_is_committed_cancelled
                "C-71" a_job_that_was_stopping_is_cancelled_again
                "C-71" a_job_that_ends_inside_its_teardown_keeps_its_end
                "C-72" a_close_waits_for_all_and_removes_all
                "C-72" a_starter_that_fails_does_not_hang_the_close
                "C-72" a_failed_cancel_of_a_teardown_fails_the_job
                "C-72" a_stuck_job_is_failed_after_the_teardown_grace
                "C-72" closes_return_together_and_again
                "C-72" a_dropped_close_goes_on
            }
            shutdown Paused {
                "C-80" a_shutdown_tears_everything_down
                "C-80" after_a_shutdown_no_completion_is_offered
                "C-80" a_pending_reporter_ends_with_the_registry
                "C-80" changes_give_their_last_items_and_end
                "C-80" a_shutdown_waits_for_a_stuck_job_no_longer_than_the_grace
                "C-80" a_dropped_shutdown_goes_on
                "C-80" shutdowns_return_together_and_again
                "C-80" an_owner_can_be_closed_after_the_shutdown
            }
            stress Threads {
                "C-15" concurrent_starts_do_not_pass_the_limit
                "C-40" a_job_that_ends_inside_cancel_is_already_finished
                "C-71" closes_and_starts_race_and_leave_nothing
            }
            storms Threads {
                "C-63" every_owner_is_told_each_completion_once
                "C-51" waits_reads_and_reporters_race_and_one_of_them_tells
                "C-06" consumers_may_call_anything_while_jobs_settle
            }
        }
    };
}
