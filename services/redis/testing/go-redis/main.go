// Uses the queue with go-redis: go-redis-client <port> <password> <script id> <protocol>.
// Prints the ID of the finished run.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const jobs = "runtime:jobs"

func main() {
	protocol, _ := strconv.Atoi(os.Args[4])
	// One connection, so that a stale reply would reach the next command.
	client := redis.NewClient(&redis.Options{
		Addr: "127.0.0.1:" + os.Args[1], Password: os.Args[2], Protocol: protocol, PoolSize: 1,
	})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	defer cancel()
	script, _ := json.Marshal(map[string]string{"script_id": os.Args[3]})

	listener := redis.NewClient(client.Options()).Subscribe(ctx, "script.completed")
	must(listener.Receive(ctx))

	// The pipeline pops the first of two jobs, and the transaction pops the second.
	var pushed, length *redis.IntCmd
	var popped *redis.StringCmd
	must(client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pushed = pipe.LPush(ctx, jobs, script)
		length = pipe.LLen(ctx, jobs)
		popped = pipe.RPop(ctx, jobs)
		return nil
	}))
	expect(pushed.Val() == 1 && length.Val() == 1, "pipeline")
	finish(ctx, client, popped.Val())
	must(client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pushed = pipe.LPush(ctx, jobs, script)
		length = pipe.LLen(ctx, jobs)
		return nil
	}))
	expect(pushed.Val() == 1 && length.Val() == 1, "transaction")

	taken := must(client.BRPop(ctx, 5*time.Second, jobs).Result())
	run := runOf(taken[1])
	logs := "runs:" + run + ":logs"
	id := must(client.XAdd(ctx, &redis.XAddArgs{Stream: logs, Values: []string{"text", "hello"}}).Result())
	expect(id == "1-0", "XADD")
	streams := must(client.XRead(ctx, &redis.XReadArgs{Streams: []string{logs, "0"}, Block: time.Second}).Result())
	expect(streams[0].Messages[0].Values["text"] == "hello", "XREAD")
	expect(must(client.XRevRangeN(ctx, logs, "+", "-", 1).Result())[0].ID == "1-0", "XREVRANGE")
	expect(must(client.XInfoStream(ctx, logs).Result()).Length == 1, "XINFO")
	expect(must(client.PubSubNumSub(ctx, "script.completed").Result())["script.completed"] == 1, "PUBSUB")
	must(client.Time(ctx).Result())

	for round := 0; round < 3; round++ {
		refused := client.Get(ctx, "x").Err()
		expect(refused != nil && strings.Contains(refused.Error(), "unknown command"), "error")
		inSync(ctx, client)
		_, refused = client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.LLen(ctx, jobs)
			pipe.Get(ctx, "x")
			return nil
		})
		expect(refused != nil, "error in a transaction")
		inSync(ctx, client)
		_, refused = client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Get(ctx, "x")
			pipe.LLen(ctx, jobs)
			return nil
		})
		expect(refused != nil, "error in a pipeline")
		inSync(ctx, client)
	}

	finish(ctx, client, taken[1])
	for range 2 {
		must(listener.ReceiveMessage(ctx))
	}
	fmt.Println(run)
}

func inSync(ctx context.Context, client *redis.Client) {
	text := strconv.FormatInt(time.Now().UnixNano(), 10)
	expect(must(client.Echo(ctx, text).Result()) == text, "the connection is out of sync")
}

func finish(ctx context.Context, client *redis.Client, job string) {
	message, _ := json.Marshal(map[string]string{"run_id": runOf(job), "status": "success"})
	must(client.Publish(ctx, "script.completed", message).Result())
}

func runOf(job string) string {
	var fields struct {
		RunID string `json:"run_id"`
	}
	expect(json.Unmarshal([]byte(job), &fields) == nil, "no job: "+job)
	return fields.RunID
}

func expect(isTrue bool, what string) {
	if !isTrue {
		fmt.Fprintln(os.Stderr, what)
		os.Exit(1)
	}
}

func must[Value any](value Value, err error) Value {
	expect(err == nil, fmt.Sprint(err))
	return value
}
