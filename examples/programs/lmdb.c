// Four threads read an LMDB database that one writer changes. Usage: lmdb FOLDER [TIMES]
// LMDB keeps each reader's slot on its own line (CACHELINE in mdb.c); -DCACHELINE=1 removes that padding.

#include <lmdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kReaders = 4, kKeys = 200, kReads = 1500, kWrites = 10 };

static MDB_env* environment;
static MDB_dbi database;
static unsigned times = 1;

static void demand(int result) {
  if (result == 0) return;
  fprintf(stderr, "lmdb: %s\n", mdb_strerror(result));
  exit(1);
}

static void put(MDB_txn* transaction, unsigned number, unsigned value) {
  MDB_val key = {sizeof number, &number}, data = {sizeof value, &value};
  demand(mdb_put(transaction, database, &key, &data, 0));
}

static unsigned get(MDB_txn* transaction, unsigned number) {
  MDB_val key = {sizeof number, &number}, data;
  unsigned value;
  demand(mdb_get(transaction, database, &key, &data));
  memcpy(&value, data.mv_data, sizeof value);
  return value;
}

// The main thread begins the transactions, because a thread that starts after another has ended would reuse its slot.
struct reader {
  MDB_txn* transaction;
  long torn;
};

// The writer changes two keys at a time by the same amount: a reader must see both changes or neither.
static void* read_pairs(void* mine) {
  MDB_txn* transaction = ((struct reader*)mine)->transaction;
  for (unsigned i = 0; i < times * kReads; i++) {
    mdb_txn_reset(transaction);
    demand(mdb_txn_renew(transaction));
    const unsigned number = i * 7 % (kKeys / 2);
    if (get(transaction, number) != get(transaction, number + kKeys / 2)) ((struct reader*)mine)->torn++;
  }
  mdb_txn_abort(transaction);
  return NULL;
}

static void* write_pairs(void* nothing) {
  for (unsigned i = 1; i <= kWrites; i++) {
    MDB_txn* transaction;
    demand(mdb_txn_begin(environment, NULL, 0, &transaction));
    put(transaction, i, 1000 + i);
    put(transaction, i + kKeys / 2, 1000 + i);
    demand(mdb_txn_commit(transaction));
  }
  return nothing;
}

int main(int count, char** arguments) {
  pthread_t readers[kReaders], writer;
  struct reader read[kReaders] = {{0}};
  long all_torn = 0, sum = 0;
  MDB_txn* transaction;
  if (count < 2) return 2;
  if (count > 2) times = (unsigned)atoi(arguments[2]);
  demand(mdb_env_create(&environment));
  demand(mdb_env_open(environment, arguments[1], MDB_NOSYNC | MDB_NOTLS, 0600));
  demand(mdb_txn_begin(environment, NULL, 0, &transaction));
  demand(mdb_dbi_open(transaction, NULL, MDB_INTEGERKEY, &database));
  for (unsigned number = 0; number < kKeys; number++) put(transaction, number, number % (kKeys / 2));
  demand(mdb_txn_commit(transaction));

  for (int i = 0; i < kReaders; i++) demand(mdb_txn_begin(environment, NULL, MDB_RDONLY, &read[i].transaction));
  for (int i = 0; i < kReaders; i++) pthread_create(&readers[i], NULL, read_pairs, &read[i]);
  pthread_create(&writer, NULL, write_pairs, NULL);
  for (int i = 0; i < kReaders; i++) pthread_join(readers[i], NULL);
  pthread_join(writer, NULL);

  demand(mdb_txn_begin(environment, NULL, MDB_RDONLY, &transaction));
  for (unsigned number = 0; number < kKeys; number++) sum += get(transaction, number);
  mdb_txn_abort(transaction);
  for (int i = 0; i < kReaders; i++) all_torn += read[i].torn;
  mdb_env_close(environment);
  printf("sum %ld, torn %ld\n", sum, all_torn);
  return 0;
}
