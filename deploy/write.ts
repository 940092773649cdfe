/** `npm run -s deploy:monitoring`: writes what Prometheus and Grafana read, from the sources beside it. */
import { writeFileSync } from 'node:fs';
import { dashboardFile, DASHBOARDS } from './grafana/dashboards.ts';
import { objectivesFile, objectivesTestsFile, rulesFile, testsFile } from './prometheus/files.ts';

export function monitoringFiles(): Readonly<Record<string, string>> {
  return {
    'deploy/prometheus/flock.rules.yaml': rulesFile(),
    'deploy/prometheus/flock.tests.yaml': testsFile(),
    'deploy/prometheus/flock-objectives.rules.yaml': objectivesFile(),
    'deploy/prometheus/flock-objectives.tests.yaml': objectivesTestsFile(),
    ...Object.fromEntries(DASHBOARDS.map((one) => [`deploy/grafana/${one.uid}.json`, dashboardFile(one)])),
  };
}

if (import.meta.main)
  for (const [path, text] of Object.entries(monitoringFiles()))
    writeFileSync(new URL(`../${path}`, import.meta.url), text);
