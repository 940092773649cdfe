/**
 * The command that starts an edge: complete but for the API key and the phrase, which the cloud does not have. Spec
 * §4.3.
 */
import type { ReplyOf } from '../../protocol/routes.ts';
import type { Environment } from '../../protocol/slugs.ts';

const IMAGE = 'flock-edge';

export function edgeSetupOf(environment: Environment, publicUrl: string): ReplyOf<'getEdgeSetup'> {
  const keyForm = environment === 'live' ? 'flk_live_…' : 'flk_test_…';
  const command = [
    'docker run -d --name flock-edge --restart unless-stopped --init \\',
    '  -p 127.0.0.1:8081:8081 \\',
    '  -e API_KEY="$FLOCK_API_KEY" \\',
    `  -e CLOUD_URL=${publicUrl} \\`,
    '  -e HOST=0.0.0.0 -e EDGE_PORT=8081 -e EDGE_DATA_DIR=/data \\',
    '  -e MNEMONIC_FILE=/run/secrets/phrase \\',
    '  -v flock-edge:/data -v "$PWD/phrase:/run/secrets/phrase:ro" \\',
    `  ${IMAGE}`,
  ].join('\n');
  return {
    environment,
    command,
    variables: [
      {
        name: 'FLOCK_API_KEY', value: null,
        description: `an API key of this environment (${keyForm}); mint one under settings`,
      },
      { name: 'CLOUD_URL', value: publicUrl, description: 'this service' },
      {
        name: 'MNEMONIC_FILE', value: '/run/secrets/phrase',
        description: 'file with the recovery phrase; it never leaves the edge',
      },
      { name: 'EDGE_DATA_DIR', value: '/data', description: 'durable: outbox, spend ledger, instructions' },
    ],
  };
}
