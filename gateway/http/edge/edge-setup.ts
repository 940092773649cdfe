/**
 * The commands that start an edge of an account, to paste into a shell. Complete but for the API key and the phrase,
 * which the cloud does not have: both are named, neither is ever an argument. Spec §4.3.
 */
import type { ReplyOf } from '../../../protocol/routes.ts';
import type { Environment } from '../../../protocol/slugs.ts';

/** What `docker compose build edge` in a checkout makes; there is no registry of images. */
const IMAGE = 'flock-edge';
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

const PLAIN_HTTP = {
  name: 'EDGE_PLAIN_HTTP',
  value: 'allowed',
  description:
    'this service says that it is at http://: anybody on the network path reads the key and every answer. Set PUBLIC_URL of the service to https:// unless that network is yours alone',
};

export function edgeSetupOf(environment: Environment, publicUrl: string): ReplyOf<'getEdgeSetup'> {
  const keyForm = environment === 'live' ? 'flk_live_…' : 'flk_test_…';
  const key = `API_KEY="\${FLOCK_API_KEY:?first: export FLOCK_API_KEY=${keyForm}}"`;
  const name = `flock-edge-${environment}`;
  // A container reaches a cloud on this machine by the machine's own network only.
  const { protocol, hostname } = new URL(publicUrl),
    isOnThisMachine = LOOPBACK.test(hostname);
  const network = isOnThisMachine ? '--network host -e HOST=127.0.0.1' : '-p 127.0.0.1:8081:8081 -e HOST=0.0.0.0';
  // An edge with a live key starts only when its operator says that the network on the way is the company's own.
  const isPlain = environment === 'live' && protocol === 'http:' && !isOnThisMachine;
  const command = [
    `${key} docker run -d --name ${name} --restart unless-stopped --init --ulimit core=0 \\`,
    `  ${network} -e EDGE_PORT=8081 -e API_KEY -e CLOUD_URL=${shellQuoted(publicUrl)}${isPlain ? ' -e EDGE_PLAIN_HTTP=allowed' : ''} \\`,
    '  -e EDGE_DATA_DIR=/data -e MNEMONIC_FILE=/run/secrets/phrase \\',
    `  --mount type=volume,source=${name},target=/data \\`,
    '  --mount type=bind,source="$PWD/phrase",target=/run/secrets/phrase,readonly \\',
    `  ${IMAGE} node --disable-sigusr1 edge/main.ts`,
  ].join('\n');
  const checkoutCommand = [
    `${key} CLOUD_URL=${shellQuoted(publicUrl)}${isPlain ? ' EDGE_PLAIN_HTTP=allowed' : ''} EDGE_PORT="\${EDGE_PORT:-8081}" \\`,
    `  EDGE_DATA_DIR="$HOME/.flock/${name}" MNEMONIC_FILE="$PWD/phrase" npm run -s edge`,
  ].join('\n');
  return {
    environment,
    command,
    checkoutCommand,
    variables: [
      {
        name: 'FLOCK_API_KEY',
        value: null,
        description: `export it before you paste: an API key of this environment (${keyForm}), minted under settings`,
      },
      {
        name: 'phrase',
        value: null,
        description:
          'a file in the directory that you paste in, with the recovery phrase, readable by the edge only (in the ' +
          'container: uid 1000); it never leaves the edge',
      },
      { name: 'CLOUD_URL', value: publicUrl, description: 'this service' },
      ...(isPlain ? [PLAIN_HTTP] : []),
      { name: 'EDGE_DATA_DIR', value: null, description: 'keep it: outbox, spend ledger, instructions, local keys' },
    ],
  };
}

/** A word of a POSIX shell that stands for exactly this text. */
function shellQuoted(text: string): string {
  return /^[\w.:/@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
