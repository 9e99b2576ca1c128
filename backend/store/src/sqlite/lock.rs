//! One program at a time has a data folder: an exclusive lock on a file in it, which ends with the process.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

use crate::{Result, StoreError};

#[derive(Debug)]
pub(super) struct FolderLock {
    _file: File,
}

impl FolderLock {
    pub(super) fn take(folder: &Path) -> Result<Self> {
        let path = folder.join("millrace.lock");
        let open =
            |error: std::io::Error| StoreError::Open { what: path.display().to_string(), why: error.to_string() };
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(open)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                let known = file.read_to_string(&mut owner).is_ok() && !owner.trim().is_empty();
                let owner = if known { format!(" (process {})", owner.trim()) } else { String::new() };
                return Err(StoreError::Locked(format!("folder {}{owner}", folder.display())));
            }
            Err(TryLockError::Error(error)) => return Err(open(error)),
        }
        // Who has it, for the message above.
        file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(open)?;
        Ok(Self { _file: file })
    }
}
