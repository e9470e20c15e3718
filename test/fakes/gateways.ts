import {startDevelopment} from './gateway/development.ts';
import {environmentLines} from './shared/development.ts';

const {
	GATEWAY_A_PORT = '4401',
	GATEWAY_B_PORT = '4402',
	SERVICE_URL = 'http://localhost:3000',
	DATA_DIR = './data',
	CLOCK_OFFSET = '0',
} = process.env;

const {stripe, paymob, help, stop} = await startDevelopment({
	ports: {stripe: Number(GATEWAY_A_PORT), paymob: Number(GATEWAY_B_PORT)},
	serviceUrl: SERVICE_URL,
	folder: DATA_DIR,
	clockOffset: Number(CLOCK_OFFSET),
	say: (line) => console.error(line),
});
console.log(`${help}\nThe service's variables:\n${environmentLines({...stripe.env, ...paymob.env})}`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
	process.once(signal, stop);
}
