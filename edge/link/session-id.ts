/**
 * The id of this process's session. A process that was killed comes back as the session that it was, so that its lease
 * is still its own and it goes on at once; a graceful stop ends the session for good. Who shares the data directory
 * with a process that lives, frozen ones too, gets a session of its own: the file's lock goes only with its holder.
 */
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface SessionId {
  readonly sessionId: string;
  /** Ends the session: the next process begins a new one. */
  end(): void;
}

/** Only its owner may read the data directory's files. */
const OWNER_ONLY = 0o600;

/** The session of a data directory; `fresh` names a new one. */
export function claimSessionId(dataDir: string, fresh: () => string): SessionId {
  const path = join(dataDir, 'session.sqlite');
  closeSync(openSync(path, 'a', OWNER_ONLY)); // made by the library it would be everyone's to read
  const file = new DatabaseSync(path, { timeout: 0 });
  try {
    // With this mode the lock of the first write is kept until the file is closed, by us or by the end of the process.
    file.exec('pragma locking_mode = exclusive; create table if not exists session (id text not null)');
    const kept = file.prepare('select id from session').get() as { id: string } | undefined;
    // A damaged one would be refused by the cloud at each try.
    const sessionId = SESSION_ID.test(kept?.id ?? '') ? kept!.id : fresh();
    file.exec('delete from session');
    file.prepare('insert into session (id) values (?)').run(sessionId);
    return {
      sessionId,
      end() {
        file.exec('delete from session');
        file.close();
      },
    };
  } catch (error) {
    file.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    return { sessionId: fresh(), end: () => undefined };
  }
}

const SESSION_ID = /^ses_[a-z0-9]{1,40}$/;

/** Source: sqlite.org, result codes. */
const SQLITE_BUSY = 5;
