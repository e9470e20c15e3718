/** What `dist/server.cjs` is made of. */
export {loadLate} from './late-parts.ts';
export {serve} from './serve.ts';
