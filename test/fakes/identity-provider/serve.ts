import path from 'node:path';
import {environmentLines} from '../shared/development.ts';
import {startDevelopment} from './development.ts';

const defaultPort = 4400;
const {
	PORT = String(defaultPort),
	WEBHOOK_URL = 'http://localhost:3000/webhooks/idp',
	DATA_DIR = './data',
} = process.env;

const {idp, help, stop} = await startDevelopment({
	port: Number(PORT),
	webhookUrl: WEBHOOK_URL,
	stateFile: path.join(DATA_DIR, 'development-identity-provider.json'),
	say: (line) => console.error(line),
});
console.log(`${help}\nThe service's variables:\n${environmentLines(idp.env)}`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
	process.once(signal, stop);
}
