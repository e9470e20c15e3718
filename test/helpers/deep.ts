/** Whether `npm run test:deep` runs, which takes its time; `npm test` tries fewer cases. */
export const isDeep = process.env['TEST_DEEP'] !== undefined;
