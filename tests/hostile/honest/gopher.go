// Goroutines, channels, the collector, timers, a child.
package main

import (
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

func main() {
	var all sync.WaitGroup
	sums := make(chan int, 100)
	for i := 0; i < 100; i++ {
		all.Add(1)
		go func(n int) {
			defer all.Done()
			sums <- n * n
		}(i)
	}
	all.Wait()
	close(sums)
	total := 0
	for n := range sums {
		total += n
	}
	if total != 328350 {
		panic(total)
	}
	for i := 0; i < 200; i++ {
		_ = make([]byte, 1<<20)
	}
	runtime.GC()
	<-time.After(time.Millisecond)
	output, err := exec.Command("/bin/echo", "x").Output()
	if err != nil || string(output) != "x\n" {
		panic(err)
	}
	fmt.Println("OK")
}
