import { createServer, type AddressInfo } from 'node:net';
import test from 'ava';
import { listenFault, listeningProblem } from '../../../protocol/node/listening.ts';

const SETTINGS = { hostSetting: 'HOST', portSetting: 'CLOUD_PORT' };
const faultOf = (host: string, port: number): Promise<string | null> => listeningProblem({ host, port, ...SETTINGS });

test('why a process cannot listen names the setting and the next step; a free port stays free', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  t.teardown(() => taken.close());
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as AddressInfo;
  t.is(
    await faultOf('127.0.0.1', port),
    `CLOUD_PORT: port ${port} is in use; set CLOUD_PORT to another one (0: any that is free)`,
  );
  t.regex((await faultOf('192.0.2.1', 0))!, /^HOST: is no address of this machine; .*0\.0\.0\.0/);
  t.regex((await faultOf('no-such-host.invalid', 0))!, /^HOST: is no address, and no name that resolves$/);
  t.regex((await faultOf('0.0.0.0:8080', 0))!, /^HOST: .*; the port goes into CLOUD_PORT$/);
  t.is(await faultOf('127.0.0.1', 0), null, 'a free port stays free');
});

test('below 1024 it is the port, and every other fault is somebody else’s', (t) => {
  const place = { host: '127.0.0.1', port: 80, ...SETTINGS };
  t.regex(listenFault({ code: 'EACCES' }, place)!, /^CLOUD_PORT: this user may not open port 80; take one above 1023/);
  for (const error of [{ code: 'ECONNREFUSED' }, new Error('other'), 'text']) t.is(listenFault(error, place), null);
});
