/** The Python client as a customer gets it: its wheel, unpacked in an empty folder, run by the behaviour suite. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { drive } from '../../support/clients/drive.ts';
import { asynchronousOf, installPython, runPython } from '../../support/clients/installed-python.ts';
import { CASES } from '../../support/clients/suite.ts';

const installed = installPython();
test.after.always(() => installed.remove());

test('ecosystem X12, X17 every case of the behaviour suite that can be in Python, with the packed client', async (t) => {
  const cases = CASES.filter(({ not }) => not?.['python'] === undefined);
  t.true(cases.length > CASES.length - 10);
  const judged = await drive(
    installed.driver,
    cases.map((one) => ({ case: one })),
  );
  t.deepEqual(
    judged.filter(({ wrong }) => wrong.length > 0).map(({ case: { id }, wrong }) => ({ id, wrong })),
    [],
  );
});

test('ecosystem X12, X17 the same cases with the asynchronous client, on httpx', async (t) => {
  const cases = CASES.filter(({ not, call }) => not?.['python'] === undefined && call !== undefined);
  t.true(cases.length > 60, `${cases.length}`);
  const judged = await drive(
    installed.asynchronous,
    cases.map((one) => ({ case: one })),
  );
  t.deepEqual(
    judged.filter(({ wrong }) => wrong.length > 0).map(({ case: { id }, wrong }) => ({ id, wrong })),
    [],
  );
});

test('ecosystem X12 the suite finds a fault of the Python client too', async (t) => {
  const there = 'uuid.uuid4()';
  const text = readFileSync(join(installed.folder, 'flock_client/_core.py'), 'utf8');
  t.true(text.includes(there));
  const faulty = installed.planted('_core.py', text.replace(there, '"11111111-1111-4111-8111-111111111111"'));
  const judged = await drive(
    faulty,
    CASES.filter(({ id }) => id.startsWith('key.another')).map((one) => ({ case: one })),
  );
  t.regex(judged[0]!.wrong.join(), /one key for two calls/);
  const also = await drive(
    asynchronousOf(faulty),
    CASES.filter(({ id }) => id.startsWith('key.another')).map((one) => ({ case: one })),
  );
  t.regex(also[0]!.wrong.join(), /one key for two calls/);
});

test('ecosystem X17 the wheel has no dependency but httpx, for the asynchronous client, is the same bytes again, and is read by Python 3.9', (t) => {
  const again = join(installed.folder, 'again');
  mkdirSync(again);
  const hash = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
  t.is(hash(installed.pack(again)), hash(installed.wheel));
  const script = `
import ast, pathlib, sys
known = set(sys.stdlib_module_names)
for path in pathlib.Path('flock_client').glob('*.py'):
    tree = ast.parse(path.read_text(), feature_version=(3, 9))
    for node in ast.walk(tree):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
        for name in names:
            assert name.split('.')[0] in known or (name == 'httpx' and path.name == '_async_core.py'), (path, name)
print('clean')`;
  t.is(runPython(installed.driver, ['-c', script]), 'clean\n');
  const readme = execFileSync('python3', ['-c', `print(open('flock_client-README.md').read())`], {
    cwd: installed.folder,
    encoding: 'utf8',
  });
  const blocks = [...readme.matchAll(/^```python\n([\s\S]*?)^```/gm)].map(([, code]) => code!);
  t.is(blocks.length, 3);
  for (const code of blocks)
    t.is(runPython(installed.driver, ['-c', `compile(${JSON.stringify(code)}, 'readme', 'exec')`]), '');
});

test('ecosystem X17 one client is used by several threads at once', (t) => {
  const script = `
import json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from flock_client import Flock

class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *_):
        pass
    def do_GET(self):
        body = json.dumps({'success': True, 'data': {'id': self.path.rsplit('/', 1)[1]}}).encode()
        self.send_response(200)
        self.send_header('content-length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
flock = Flock(f'http://127.0.0.1:{server.server_port}', 'loc_test_' + 'a' * 39)
wrong = []
def ask(at):
    for n in range(50):
        if flock.get_address(id=f'{at}-{n}')['id'] != f'{at}-{n}':
            wrong.append(n)
threads = [threading.Thread(target=ask, args=(at,)) for at in range(8)]
[one.start() for one in threads]
[one.join() for one in threads]
print(len(wrong))`;
  t.is(runPython(installed.driver, ['-c', script]), '0\n');
});

/** Answers with its own path and what was sent, and counts connections. */
const ECHO = `
import asyncio, json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ports, slow = set(), threading.Event()
class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *_):
        pass
    def do_POST(self):
        self.do_GET()
    def do_GET(self):
        ports.add(self.client_address[1])
        sent = self.rfile.read(int(self.headers.get('content-length') or 0)).decode()
        if self.path.endswith('slow'):
            slow.wait(20)
        body = json.dumps({'success': True, 'data': {'id': self.path.rsplit('/', 1)[1], 'sent': sent}}).encode()
        self.send_response(200)
        self.send_header('content-length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f'http://127.0.0.1:{server.server_port}'
`;

test('ecosystem X17, faults 16, 17 one asynchronous client in two event loops: connections of its own in each, many calls at once, a cancelled one ends', (t) => {
  const script = `${ECHO}
from flock_client.aio import AsyncFlock

flock = AsyncFlock(base, 'loc_test_' + 'a' * 39)
async def many():
    found = await asyncio.gather(*(flock.get_address(id=str(n)) for n in range(20)))
    return [one['id'] for one in found] == [str(n) for n in range(20)]
async def twice():
    before = len(ports)
    for n in range(3):
        await flock.get_address(id=str(n))
    return len(ports) - before
async def cancelled():
    call = asyncio.ensure_future(flock.get_address(id='slow'))
    await asyncio.sleep(0)
    call.cancel()
    try:
        await call
    except asyncio.CancelledError:
        return 'cancelled'
async def closed():
    await flock.aclose()
    return (await flock.get_address(id='again'))['id']
print(asyncio.run(many()), asyncio.run(twice()), asyncio.run(cancelled()), asyncio.run(closed()))
slow.set()`;
  t.is(runPython(installed.asynchronous, ['-c', script]), 'True 1 cancelled again\n');
});

test('ecosystem X2 a field that is called like a word of the client arrives as it was given', (t) => {
  const script = `${ECHO}
from flock_client import Flock
flock = Flock(base, 'flk_test_' + 'b' * 39)
print(flock.ask_passkey(operation='removePasskey', params={'id': 'a'})['sent'])`;
  t.is(runPython(installed.driver, ['-c', script]), '{"operation":"removePasskey","params":{"id":"a"}}\n');
});

test('ecosystem X17 mypy --strict finds nothing', (t) => {
  if (!existsSync('/usr/bin/mypy')) throw new Error('mypy is missing: apt-get install mypy');
  const options = ['--strict', '--python-executable', '/usr/bin/python3', '--cache-dir', '/dev/null'];
  const said = execFileSync('/usr/bin/mypy', [...options, 'flock_client'], { cwd: installed.folder, encoding: 'utf8' });
  t.regex(said, /no issues found/);
});

test('ecosystem X5 a connection that is used again has the limit of its own call', (t) => {
  const script = `
import json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from flock_client import Flock

released = threading.Event()
class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *_):
        pass
    def do_GET(self):
        if self.path.endswith('slow'):
            released.wait(2)
        body = b'{"success":true,"data":{}}'
        self.send_response(200)
        self.send_header('content-length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
flock = Flock(f'http://127.0.0.1:{server.server_port}', 'loc_test_' + 'a' * 39, retries=0)
flock.get_address(id='quick', timeout=1.5)
print(flock.get_address(id='slow', timeout=30))`;
  t.is(runPython(installed.driver, ['-c', script]), '{}\n');
});

test('ecosystem X5 the limit ends a body that drips, also after a name that was looked up slowly', (t) => {
  const script = `
import socket, threading, time
from flock_client import Flock, FlockError

never = threading.Event()
listener = socket.create_server(('127.0.0.1', 0))
def drip():
    connection, _ = listener.accept()
    connection.sendall(b'HTTP/1.1 200 OK\\r\\ncontent-type: text/csv\\r\\n\\r\\n')
    try:
        for _ in range(60):
            never.wait(0.05)
            connection.sendall(b'a')
    except OSError:
        pass
    connection.close()
threading.Thread(target=drip, daemon=True).start()
look_up = socket.getaddrinfo
def slowly(*asked, **how):
    never.wait(0.4)
    return [one for one in look_up(*asked, **how) if one[0] == socket.AF_INET]
socket.getaddrinfo = slowly
flock = Flock(f'http://localhost:{listener.getsockname()[1]}', 'loc_test_' + 'a' * 39, retries=0)
began = time.monotonic()
try:
    flock.get_address(id='a', timeout=0.3)
except FlockError as error:
    print(error.code, error.details['reason'], time.monotonic() - began < 2)`;
  t.is(runPython(installed.driver, ['-c', script]), 'CLIENT_TIMEOUT timeout True\n');
});

test('ecosystem X10 a connection that is cut stays encrypted for what is still being sent', (t) => {
  const script = `
import socket, ssl
from flock_client._core import _shut
ours, _ = socket.socketpair()
tls = ssl.create_default_context().wrap_socket(ours, server_hostname='a', do_handshake_on_connect=False)
_shut(tls)
print(tls._sslobj is not None)`;
  t.is(runPython(installed.driver, ['-c', script]), 'True\n');
});

test('ecosystem X17 a process that forked does not read the answers of its parent', (t) => {
  const script = `
import json, os, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from flock_client import Flock, FlockError

ports = []
class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *_):
        pass
    def do_GET(self):
        ports.append(self.client_address[1])
        body = b'{"success":true,"data":{}}'
        self.send_response(200)
        self.send_header('content-length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
flock = Flock(f'http://127.0.0.1:{server.server_port}', 'loc_test_' + 'a' * 39)
flock.get_address(id='parent')
for _ in range(2):
    child = os.fork()
    if child == 0:
        flock.get_address(id='child')
        os._exit(0)
    os.waitpid(child, 0)
flock.get_address(id='parent')
print(len(set(ports)), ports[0] == ports[3])`;
  t.is(runPython(installed.driver, ['-c', script]), '3 True\n');
});

test('ecosystem X5, X9 a pause that took too long, options that are no numbers, and an error that goes to another process', (t) => {
  const script = `
import copy, pickle
from flock_client import Clock, Flock, FlockError

class Slept(Clock):
    passed = 0.0
    def now(self):
        return self.passed
    def sleep(self, seconds):
        self.passed += 3_600
def told(**options):
    try:
        Flock('http://127.0.0.1:9', 'loc_test_' + 'a' * 39, **options).create_address(chain='eth', user_ref='1', idempotency_key='k')
    except FlockError as error:
        for one in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
            print(one, one.code, one.attempts, one.idempotency_key, dict(one.details))
told(clock=Slept())
told(deadline=0)
told(retries=float('nan'))
told(timeout=None)`;
  const thrice = (line: string): string => `${line}\n`.repeat(3);
  t.is(
    runPython(installed.driver, ['-c', script]),
    thrice("CLIENT_NETWORK: no whole answer came CLIENT_NETWORK 1 k {'reason': 'ECONNREFUSED'}") +
      thrice(
        "CLIENT_TIMEOUT: the time of the call was over before it was sent CLIENT_TIMEOUT 0 k {'reason': 'timeout'}",
      ) +
      thrice("CLIENT_INVALID: retries is a number, 0 or more CLIENT_INVALID 0 None {'field': 'retries'}") +
      thrice("CLIENT_INVALID: timeout is a number, 0 or more CLIENT_INVALID 0 None {'field': 'timeout'}"),
  );
});
