import path from 'node:path';
import {packageRoot} from '../../src/platform/package-root.ts';

/** The path of a certificate or key of the tests; `authority` signed the others. */
export const tlsFile = (name: string): string => path.join(packageRoot, 'test/fixtures/tls', `${name}.pem`);
