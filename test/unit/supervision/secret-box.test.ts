import { randomBytes } from 'node:crypto';
import test from 'ava';
import { createSecretBox } from '../../../persistence/secret-box.ts';

test('issue 2.11: a node that is started with another sealing key names the setting, and shows nothing of the secret', (t) => {
  const sealed = createSecretBox([randomBytes(32)]).seal('word', 'here');
  const { message } = t.throws(() => createSecretBox([randomBytes(32)]).open(sealed, 'here'));
  t.regex(message, /^SECRET_KEY does not hold the key that a secret of this database was sealed under$/);
});
