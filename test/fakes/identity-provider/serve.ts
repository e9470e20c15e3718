import {startDevelopment} from './development.ts';
import {environmentLines, helpText} from './development-routes.ts';

const defaultPort = 4400;
const {PORT = String(defaultPort), WEBHOOK_URL = 'http://localhost:3000/webhooks/idp'} = process.env;

const {idp, stop} = await startDevelopment({
	port: Number(PORT),
	webhookUrl: WEBHOOK_URL,
	say: (line) => console.error(line),
});
console.log(`${helpText(idp, WEBHOOK_URL)}\nThe service's variables:\n${environmentLines(idp)}`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
	process.once(signal, stop);
}
