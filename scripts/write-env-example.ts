import {writeFile} from 'node:fs/promises';
import {envExample} from './env-example.ts';

// `npm run docs:env`: writes .env.example anew.
await writeFile(new URL('../.env.example', import.meta.url), envExample());
