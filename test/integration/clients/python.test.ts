/** The Python client as a customer gets it: its wheel, unpacked in an empty folder, run by the behaviour suite. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { drive } from '../../support/clients/drive.ts';
import { installPython, runPython } from '../../support/clients/installed-python.ts';
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
});

test('ecosystem X17 the wheel has no dependency, is the same bytes again, and is read by Python 3.9', (t) => {
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
            assert name.split('.')[0] in known, (path, name)
print('clean')`;
  t.is(runPython(installed.driver, ['-c', script]), 'clean\n');
  const readme = execFileSync('python3', ['-c', `print(open('flock_client-README.md').read())`], {
    cwd: installed.folder,
    encoding: 'utf8',
  });
  const blocks = [...readme.matchAll(/^```python\n([\s\S]*?)^```/gm)].map(([, code]) => code!);
  t.is(blocks.length, 2);
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
            released.wait(0.6)
        body = b'{"success":true,"data":{}}'
        self.send_response(200)
        self.send_header('content-length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
flock = Flock(f'http://127.0.0.1:{server.server_port}', 'loc_test_' + 'a' * 39, retries=0)
flock.get_address(id='quick', timeout=0.3)
print(flock.get_address(id='slow', timeout=30))`;
  t.is(runPython(installed.driver, ['-c', script]), '{}\n');
});
