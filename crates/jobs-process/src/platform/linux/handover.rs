//! How a task and its descriptors get from the host to a supervisor (`unix(7)`, `SCM_RIGHTS`).

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::wire::{MESSAGE, Message};

/// Sends [`Message::Task`]: 0, 1 and 2 of the command, and the memory file.
///
/// # Errors
///
/// The supervisor is gone; or there are too many descriptors on their way in this host.
pub(crate) fn send_task(socket: impl AsFd, fds: [BorrowedFd<'_>; 4]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut with = SendAncillaryBuffer::new(&mut space);
    with.push(SendAncillaryMessage::ScmRights(&fds));
    let bytes = Message::Task.encode();
    // It is the only message on its way, and an empty socket takes eight bytes at once.
    sendmsg(
        socket,
        &[IoSlice::new(&bytes)],
        &mut with,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// Waits for the next [`Message::Task`]; `None`: the host is gone.
///
/// # Errors
///
/// The host says what no host says.
pub(crate) fn receive_task(socket: impl AsFd) -> io::Result<Option<[OwnedFd; 4]>> {
    loop {
        let mut bytes = [0; MESSAGE];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut with = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL;
        let got = recvmsg(
            &socket,
            &mut [IoSliceMut::new(&mut bytes)],
            &mut with,
            flags,
        )?;
        let fds: Vec<OwnedFd> = with
            .drain()
            .filter_map(|message| match message {
                RecvAncillaryMessage::ScmRights(fds) => Some(fds),
                _ => None,
            })
            .flatten()
            .collect();
        match (got.bytes, Message::decode(bytes)) {
            (0, _) => return Ok(None),
            (MESSAGE, Some(Message::Terminate | Message::Kill)) => {}
            (MESSAGE, Some(Message::Task)) => {
                let task = <[OwnedFd; 4]>::try_from(fds);
                return task
                    .map(Some)
                    .map_err(|_| io::ErrorKind::InvalidData.into());
            }
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}
