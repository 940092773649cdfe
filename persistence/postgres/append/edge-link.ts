/** Rows of an append: the pinned identity and the keys of an enrolment. */
import type { EdgeLinkWrite } from '../../../model/account/edge-link.ts';
import { encoded, type AppendOf } from './rows.ts';

export const edgeLink: AppendOf<EdgeLinkWrite> = {
  identity: ({ publicKey }) => [encoded('identities', { public_key: publicKey }, '')],
  account_key: ({ row: { family, xpub, accountPath, fingerprint, status } }) => [
    encoded(
      'account_keys',
      { family, xpub, account_path: accountPath, fingerprint, status },
      `${family}/${fingerprint}`,
    ),
  ],
};
