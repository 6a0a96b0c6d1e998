//! The contract, clause by clause, against the in-memory registry.

use std::sync::Arc;

use jobs::JobRegistry;
use jobs_local::{Config, LocalJobRegistry, UnownedAccess};
use jobs_testkit::Settings;

fn local(settings: &Settings) -> Arc<dyn JobRegistry> {
    let config = Config::default()
        .with_max_concurrent_jobs_per_owner(settings.max_live_per_owner)
        .with_stop_grace(settings.stop_grace)
        .with_teardown_grace(settings.teardown_grace)
        .with_share_lease(settings.share_lease)
        .with_max_finished_jobs_per_owner(settings.max_finished_per_owner)
        .with_max_finished_output_bytes_per_owner(settings.max_output_kept_per_owner)
        .with_max_untold_completions_per_owner(settings.max_untold_per_owner)
        .with_unowned_access(match settings.unowned_access {
            jobs_testkit::UnownedAccess::Full => UnownedAccess::Full,
            jobs_testkit::UnownedAccess::ReadOnly => UnownedAccess::ReadOnly,
            jobs_testkit::UnownedAccess::Nothing => UnownedAccess::Nothing,
        });
    LocalJobRegistry::new(config).expect("the settings are valid")
}

jobs_testkit::conformance!(local);
