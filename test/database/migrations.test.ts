import t from 'tap'
import { sortMigrations } from '../../src/database/migrations.js'

const create = (name: string) => ({ both: [`CREATE TABLE ${name} (id INTEGER)`] })
const [tides, ports, berths] = [create('tides'), create('ports'), create('berths')]

t.test('the migrations of all features have one order', async (t) => {
  t.same(sortMigrations([{ 1: tides, 3: berths }, { 2: ports }]), [tides, ports, berths])
})

t.test('the start fails if two migrations have the same number, or one is missing', async (t) => {
  t.throws(() => sortMigrations([{ 1: tides }, { 1: ports }]), /same number: 1, 1$/)
  t.throws(() => sortMigrations([{ 1: tides }, { 3: berths }]), /missing.*: 1, 3$/)
})
