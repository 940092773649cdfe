/**
 * Loaded before every command of package.json: says what to do when the packages are not installed, in place of a
 * stack. Plain JavaScript, since an older Node of the machine reads it.
 */
import { existsSync } from 'node:fs';

const NODE_MAJOR_LEAST = 24;
const major = Number(process.versions.node.split('.')[0]);
const packages = existsSync(new URL('../node_modules/zod/package.json', import.meta.url));

if (!packages || major < NODE_MAJOR_LEAST) {
  process.stderr.write(
    packages
      ? `This is Node ${process.versions.node}; Flock runs on Node ${NODE_MAJOR_LEAST}, which npm ci installs for its own commands. Start it by npm (npm start, npm run …), or run npm ci again.\n`
      : 'The packages of Flock are not installed. Run  npm ci  in this directory first; it takes about half a minute.\n',
  );
  process.exit(1);
}
